CREATE TABLE categories (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, slug TEXT NOT NULL UNIQUE,
    parent_id INTEGER REFERENCES categories (id), position INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE products (
    id INTEGER PRIMARY KEY, sku TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    slug TEXT NOT NULL UNIQUE, category_id INTEGER NOT NULL REFERENCES categories (id),
    brand TEXT NOT NULL DEFAULT '', price INTEGER NOT NULL, special_price INTEGER,
    stock INTEGER NOT NULL DEFAULT 0, is_enabled INTEGER NOT NULL DEFAULT 1,
    description TEXT NOT NULL DEFAULT '', material TEXT NOT NULL DEFAULT '',
    colour TEXT NOT NULL DEFAULT '', size TEXT NOT NULL DEFAULT '',
    weight_grams INTEGER NOT NULL DEFAULT 0, is_featured INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL
);
CREATE INDEX products_by_category ON products (category_id, is_enabled);
CREATE INDEX products_by_moment ON products (created_at);
CREATE TABLE customers (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, username TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL UNIQUE, password TEXT NOT NULL, phone TEXT NOT NULL DEFAULT '',
    group_name TEXT NOT NULL DEFAULT 'General'
        CHECK (group_name IN ('General', 'Wholesale', 'Retailer')),
    newsletter INTEGER NOT NULL DEFAULT 0, created_at TEXT NOT NULL
);
CREATE TABLE addresses (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
    name TEXT NOT NULL, street TEXT NOT NULL, town TEXT NOT NULL, postcode TEXT NOT NULL,
    phone TEXT NOT NULL DEFAULT '', is_default INTEGER NOT NULL DEFAULT 0
);
CREATE INDEX addresses_by_customer ON addresses (customer_id);
CREATE TABLE reviews (
    id INTEGER PRIMARY KEY,
    product_id INTEGER NOT NULL REFERENCES products (id) ON DELETE CASCADE,
    customer_id INTEGER REFERENCES customers (id) ON DELETE SET NULL,
    nickname TEXT NOT NULL, title TEXT NOT NULL, body TEXT NOT NULL,
    rating INTEGER NOT NULL CHECK (rating BETWEEN 1 AND 5),
    status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('approved', 'pending', 'rejected')),
    created_at TEXT NOT NULL
);
CREATE INDEX reviews_by_product ON reviews (product_id, status, rating);
CREATE INDEX reviews_by_customer ON reviews (customer_id);
CREATE TABLE cart_items (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
    product_id INTEGER NOT NULL REFERENCES products (id) ON DELETE CASCADE,
    quantity INTEGER NOT NULL CHECK (quantity > 0), UNIQUE (customer_id, product_id)
);
CREATE TABLE wishlist_items (
    id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (id) ON DELETE CASCADE,
    product_id INTEGER NOT NULL REFERENCES products (id) ON DELETE CASCADE,
    comment TEXT NOT NULL DEFAULT '', UNIQUE (customer_id, product_id)
);
CREATE TABLE checkouts (
    customer_id INTEGER PRIMARY KEY REFERENCES customers (id) ON DELETE CASCADE,
    coupon TEXT, address_id INTEGER REFERENCES addresses (id) ON DELETE SET NULL,
    shipping_method TEXT NOT NULL DEFAULT '', payment_method TEXT NOT NULL DEFAULT ''
);
CREATE TABLE orders (
    id INTEGER PRIMARY KEY, number TEXT NOT NULL UNIQUE,
    customer_id INTEGER NOT NULL REFERENCES customers (id),
    status TEXT NOT NULL CHECK (
        status IN ('pending', 'processing', 'complete', 'cancelled', 'on hold', 'refunded')
    ),
    created_at TEXT NOT NULL, name TEXT NOT NULL, street TEXT NOT NULL, town TEXT NOT NULL,
    postcode TEXT NOT NULL, phone TEXT NOT NULL DEFAULT '', shipping_method TEXT NOT NULL,
    shipping INTEGER NOT NULL, payment_method TEXT NOT NULL, coupon TEXT,
    discount INTEGER NOT NULL DEFAULT 0, subtotal INTEGER NOT NULL, total INTEGER NOT NULL
);
CREATE INDEX orders_by_customer ON orders (customer_id, created_at);
CREATE INDEX orders_by_moment ON orders (created_at);
CREATE TABLE order_items (
    id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders (id) ON DELETE CASCADE,
    product_id INTEGER REFERENCES products (id) ON DELETE SET NULL,
    name TEXT NOT NULL, sku TEXT NOT NULL, price INTEGER NOT NULL, quantity INTEGER NOT NULL
);
CREATE INDEX order_items_by_order ON order_items (order_id);
CREATE INDEX order_items_by_product ON order_items (product_id);
CREATE TABLE order_comments (
    id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders (id) ON DELETE CASCADE,
    text TEXT NOT NULL, status TEXT NOT NULL, is_customer_notified INTEGER NOT NULL DEFAULT 0,
    created_at TEXT NOT NULL
);
CREATE INDEX order_comments_by_order ON order_comments (order_id);
CREATE TABLE shipments (
    id INTEGER PRIMARY KEY, order_id INTEGER NOT NULL REFERENCES orders (id) ON DELETE CASCADE,
    carrier TEXT NOT NULL, tracking_number TEXT NOT NULL, created_at TEXT NOT NULL
);
CREATE INDEX shipments_by_order ON shipments (order_id);
CREATE TABLE coupons (
    id INTEGER PRIMARY KEY, code TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
    percent INTEGER NOT NULL, is_active INTEGER NOT NULL DEFAULT 1, starts_on TEXT NOT NULL,
    ends_on TEXT NOT NULL, times_used INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE search_terms (
    id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, results INTEGER NOT NULL DEFAULT 0,
    uses INTEGER NOT NULL DEFAULT 0
);
CREATE TABLE pages (
    id INTEGER PRIMARY KEY, title TEXT NOT NULL, url_key TEXT NOT NULL UNIQUE,
    content TEXT NOT NULL, is_enabled INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE admins (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, username TEXT NOT NULL UNIQUE,
    email TEXT NOT NULL UNIQUE, password TEXT NOT NULL, role TEXT NOT NULL,
    is_active INTEGER NOT NULL DEFAULT 1
);
CREATE TABLE contact_messages (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL, message TEXT NOT NULL,
    created_at TEXT NOT NULL
);
