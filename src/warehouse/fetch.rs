//! Rows from the engines into frames, typed and lossless.
