"""Drop-ins for other libraries' classes: code goes on working when its import changes."""
