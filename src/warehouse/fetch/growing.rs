//! Columns that grow chunk by chunk: what is there is not moved when more comes, so a big result is in memory once.

use polars::prelude::{
    BinaryChunked, BinaryChunkedBuilder, BooleanChunked, BooleanChunkedBuilder, ChunkedArray, ChunkedBuilder,
    PlSmallStr, PolarsDataType, PolarsNumericType, PolarsResult, PrimitiveChunkedBuilder, StringChunked,
    StringChunkedBuilder,
};

/// Most results are small.
const FIRST_ROOM: usize = 256;

/// Rows of a chunk: big enough that a million rows are few chunks, small enough that growing one costs nothing.
const CHUNK: usize = 65_536;

/// A builder of one chunk.
pub(super) trait Grow: Sized {
    type Type: PolarsDataType;

    fn with_room(name: PlSmallStr, rows: usize) -> Self;

    fn add_null(&mut self);

    fn close(self) -> ChunkedArray<Self::Type>;

    /// Errors beyond the rows that a frame can number.
    fn join(all: &mut ChunkedArray<Self::Type>, more: ChunkedArray<Self::Type>) -> PolarsResult<()>;
}

impl<T: PolarsNumericType> Grow for PrimitiveChunkedBuilder<T> {
    type Type = T;

    fn with_room(name: PlSmallStr, rows: usize) -> Self {
        Self::new(name, rows)
    }

    fn add_null(&mut self) {
        self.append_null();
    }

    fn close(self) -> ChunkedArray<T> {
        self.finish()
    }

    fn join(all: &mut ChunkedArray<T>, more: ChunkedArray<T>) -> PolarsResult<()> {
        all.append_owned(more)
    }
}

impl Grow for BooleanChunkedBuilder {
    type Type = polars::prelude::BooleanType;

    fn with_room(name: PlSmallStr, rows: usize) -> Self {
        Self::new(name, rows)
    }

    fn add_null(&mut self) {
        self.append_null();
    }

    fn close(self) -> BooleanChunked {
        self.finish()
    }

    fn join(all: &mut BooleanChunked, more: BooleanChunked) -> PolarsResult<()> {
        all.append_owned(more)
    }
}

impl Grow for StringChunkedBuilder {
    type Type = polars::prelude::StringType;

    fn with_room(name: PlSmallStr, rows: usize) -> Self {
        Self::new(name, rows)
    }

    fn add_null(&mut self) {
        self.append_null();
    }

    fn close(self) -> StringChunked {
        self.finish()
    }

    fn join(all: &mut StringChunked, more: StringChunked) -> PolarsResult<()> {
        all.append_owned(more)
    }
}

impl Grow for BinaryChunkedBuilder {
    type Type = polars::prelude::BinaryType;

    fn with_room(name: PlSmallStr, rows: usize) -> Self {
        Self::new(name, rows)
    }

    fn add_null(&mut self) {
        self.append_null();
    }

    fn close(self) -> BinaryChunked {
        self.finish()
    }

    fn join(all: &mut BinaryChunked, more: BinaryChunked) -> PolarsResult<()> {
        all.append_owned(more)
    }
}

/// A column under way.
pub(super) struct Growing<B: Grow> {
    name: PlSmallStr,
    full: Vec<ChunkedArray<B::Type>>,
    open: B,
    /// Rows in `open`.
    rows: usize,
}

impl<B: Grow> Growing<B> {
    pub(super) fn new(name: PlSmallStr) -> Self {
        Self {
            open: B::with_room(name.clone(), FIRST_ROOM),
            name,
            full: vec![],
            rows: 0,
        }
    }

    /// A column that starts with so many nulls.
    pub(super) fn after_nulls(name: &PlSmallStr, nulls: usize) -> Self {
        let mut column = Self::new(name.clone());
        (0..nulls).for_each(|_| column.next().add_null());
        column
    }

    /// Where the next value goes; each call must add exactly one.
    pub(super) fn next(&mut self) -> &mut B {
        if self.rows == CHUNK {
            let next = B::with_room(self.name.clone(), CHUNK);
            self.full.push(std::mem::replace(&mut self.open, next).close());
            self.rows = 0;
        }
        self.rows += 1;
        &mut self.open
    }

    /// The values as they were gathered, to be turned into others.
    pub(super) fn into_chunks(self) -> Vec<ChunkedArray<B::Type>> {
        let mut chunks = self.full;
        chunks.push(self.open.close());
        chunks
    }

    /// Errors beyond the rows that a frame can number.
    pub(super) fn finish(self) -> PolarsResult<ChunkedArray<B::Type>> {
        let mut chunks = self.full.into_iter();
        let Some(mut all) = chunks.next() else {
            return Ok(self.open.close());
        };
        for chunk in chunks {
            B::join(&mut all, chunk)?;
        }
        B::join(&mut all, self.open.close())?;
        Ok(all)
    }
}
