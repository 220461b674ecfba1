"""The worker: claims submissions, has them run and scored, and ends each of them."""
