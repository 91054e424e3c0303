"""Finding the best arm: by a full scan, or with a certificate that few arms need be scored."""
