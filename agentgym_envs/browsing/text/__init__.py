"""The text browser: pages fetched in process, without a network, a layout or scripts."""
