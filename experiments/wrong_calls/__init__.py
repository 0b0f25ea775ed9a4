"""Wrong calls of everything public: each is refused, with its argument named, before an evaluation."""
