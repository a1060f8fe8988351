"""What the quorum promises: rule by rule in scripts, and as a whole in simulated disasters."""
