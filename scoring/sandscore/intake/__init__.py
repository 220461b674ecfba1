"""The door for teams: they hand in over HTTP, on the queue that exists, and see what the gate lets them see."""
