"""How often each decider errs, over whole races in worlds whose truth is known."""
