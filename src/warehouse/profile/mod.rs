//! What the values of columns look like.
