"""What the machine does: time, meaning, hazards. ``run.run`` runs an Executable."""
