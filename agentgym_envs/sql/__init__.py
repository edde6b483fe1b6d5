"""SQL: answer questions about databases by statements that read them."""
