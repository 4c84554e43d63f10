//! The dashboard as a Cloudflare Worker of its own: its entry point.
