"""The command line; heavy imports happen inside the commands, so that help is instant."""
