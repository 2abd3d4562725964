//! Parameters of statements, with the types that PostgreSQL is told. A statement whose types are known needs no name on the
//! server and no round trip of its own.

use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

/// A parameter and its type.
pub(crate) type Param<'a> = (&'a (dyn ToSql + Sync), Type);

/// A Rust type with a PostgreSQL type.
pub(crate) trait SqlType: ToSql + Sync {
    const TYPE: Type;
}

macro_rules! sql_types {
    ($($rust:ty => $one:ident, $many:ident;)*) => {$(
        impl SqlType for $rust {
            const TYPE: Type = Type::$one;
        }
        impl SqlType for Vec<$rust> {
            const TYPE: Type = Type::$many;
        }
        impl SqlType for Vec<Option<$rust>> {
            const TYPE: Type = Type::$many;
        }
    )*};
}

sql_types! {
    bool => BOOL, BOOL_ARRAY;
    i16 => INT2, INT2_ARRAY;
    i32 => INT4, INT4_ARRAY;
    i64 => INT8, INT8_ARRAY;
    String => TEXT, TEXT_ARRAY;
    &str => TEXT, TEXT_ARRAY;
    Uuid => UUID, UUID_ARRAY;
    Vec<u8> => BYTEA, BYTEA_ARRAY;
    &[u8] => BYTEA, BYTEA_ARRAY;
}

impl<T: SqlType> SqlType for Option<T> {
    const TYPE: Type = T::TYPE;
}

/// The parameter of a value.
pub(crate) fn param<T: SqlType>(value: &T) -> Param<'_> {
    (value, T::TYPE)
}

/// The parameters `$1`, `$2`, … of a statement.
macro_rules! params {
    ($($value:expr),* $(,)?) => {
        &[$($crate::params::param(&$value)),*]
    };
}

pub(crate) use params;
