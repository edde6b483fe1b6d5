"""Reads the shop's forms, in the shop's words."""

from __future__ import annotations

from agentgym_envs.sites.forms import Fields


class ShopFields(Fields):
    """The fields of a posted form of the shop, white space collapsed."""

    required = "{label} is a required field."
    too_long = "{label} can have at most {most} characters."
    most = 80

    def clean(self, text: str) -> str:
        """Return a text on one line, without unprintable characters."""
        return " ".join("".join(c for c in text if c.isprintable() or c.isspace()).split())

    def email(self) -> str:
        """Read an e-mail address."""
        message = "Please write an email address like name@post.test."
        return self.matching(
            "email", "Email", r"[^@\s]{1,64}@[^@\s]+\.[^@\s.]{2,}", message, most=120
        )

    def password(self, name: str, label: str, *, least: int = 8) -> str:
        """Read a password unchanged. It is never shown again."""
        text = self.context.form.get(name, "")
        if not text:
            self.errors[name] = self.required.format(label=label)
        elif not least <= len(text) <= 100:
            self.errors[name] = f"{label} must have between {least} and 100 characters."
        return text

    def phone(self) -> str:
        """Read a telephone number, which may be left out."""
        message = "Please write a phone number with digits and spaces only."
        return self.matching("phone", "Phone", r"\+?[0-9][0-9 ]{5,18}", message, least=0)

    def address(self) -> dict[str, str]:
        """Read the five lines of an address."""
        return {
            "name": self.text("name", "Name"),
            "street": self.text("street", "Street"),
            "town": self.text("town", "Town"),
            "postcode": self.matching(
                "postcode", "Postcode", r"[0-9]{5}", "A postcode has five digits."
            ),
            "phone": self.phone(),
        }
