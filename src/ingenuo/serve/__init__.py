"""The server: models that answer over HTTP, learn and forget, and the page that is asked at home."""
