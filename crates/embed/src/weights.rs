//! Reads tensors from a safetensors file.
//!
//! The file's header is not trusted: the library checks it against the file's length, and the shape of every tensor is
//! checked against what the model needs.

use std::path::{Path, PathBuf};

use safetensors::{Dtype, SafeTensors};

use crate::error::ModelError;
use crate::folder::read_file;

/// Maximum size of a file of weights, 4 GiB. A larger model would exhaust the memory and answer too slowly.
const MAX_FILE_BYTES: u64 = 4 << 30;

/// The bytes of a file of weights.
pub(crate) struct WeightsFile {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl WeightsFile {
    pub(crate) fn read(path: &Path) -> Result<Self, ModelError> {
        Ok(Self { path: path.to_owned(), bytes: read_file(path, MAX_FILE_BYTES)? })
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn tensors(&self) -> Result<Weights<'_>, ModelError> {
        let tensors = SafeTensors::deserialize(&self.bytes).map_err(|error| {
            ModelError::unusable(&self.path, format!("its header and its content do not agree ({error})"))
        })?;
        Ok(Weights { path: &self.path, tensors })
    }
}

/// The tensors of a file, by name.
pub(crate) struct Weights<'f> {
    path: &'f Path,
    tensors: SafeTensors<'f>,
}

impl Weights<'_> {
    pub(crate) fn has(&self, name: &str) -> bool {
        self.tensors.tensor(name).is_ok()
    }

    /// A tensor of exactly this shape, as `f32`. A number that is not finite is an error.
    pub(crate) fn numbers(&self, name: &str, shape: &[usize]) -> Result<Vec<f32>, ModelError> {
        let tensor = self.tensor(name)?;
        if tensor.shape() != shape {
            return Err(self.unusable(format!("`{name}` has the shape {:?}, not {shape:?}", tensor.shape())));
        }
        let format = NumberFormat::of(tensor.dtype()).ok_or_else(|| self.format_problem(name, tensor.dtype()))?;
        let numbers: Vec<f32> = format.decode(tensor.data()).collect();
        if numbers.iter().all(|number| number.is_finite()) {
            Ok(numbers)
        } else {
            Err(self.unusable(format!("`{name}` holds something that is not a number")))
        }
    }

    /// A two-dimensional tensor with one row per token, kept in its stored number format.
    pub(crate) fn table(&self, name: &str) -> Result<Table, ModelError> {
        let tensor = self.tensor(name)?;
        let &[rows, width] = tensor.shape() else {
            return Err(self.unusable(format!("`{name}` has {} dimensions, not two", tensor.shape().len())));
        };
        if rows == 0 || width == 0 {
            return Err(self.unusable(format!("`{name}` is empty")));
        }
        let format = NumberFormat::of(tensor.dtype()).ok_or_else(|| self.format_problem(name, tensor.dtype()))?;
        Ok(Table { format, rows, width, bytes: tensor.data().to_vec() })
    }

    /// A list of `count` row numbers, each below `rows`.
    pub(crate) fn indices(&self, name: &str, count: usize, rows: usize) -> Result<Vec<usize>, ModelError> {
        let tensor = self.tensor(name)?;
        if tensor.shape() != [count] {
            return Err(self.unusable(format!("`{name}` has the shape {:?}, not [{count}]", tensor.shape())));
        }
        let width = match tensor.dtype() {
            Dtype::I64 | Dtype::U64 => 8,
            Dtype::I32 | Dtype::U32 => 4,
            other => return Err(self.unusable(format!("`{name}` is stored as {other:?}, not as whole numbers"))),
        };
        let index = |bytes: &[u8]| {
            let mut whole = [0; 8];
            whole[..width].copy_from_slice(bytes);
            usize::try_from(u64::from_le_bytes(whole)).ok().filter(|row| *row < rows)
        };
        let indices: Option<Vec<usize>> = tensor.data().chunks_exact(width).map(index).collect();
        indices.ok_or_else(|| self.unusable(format!("`{name}` names rows that are not there")))
    }

    pub(crate) fn unusable(&self, problem: impl Into<String>) -> ModelError {
        ModelError::unusable(self.path, problem)
    }

    fn tensor(&self, name: &str) -> Result<safetensors::tensor::TensorView<'_>, ModelError> {
        self.tensors.tensor(name).map_err(|_| self.unusable(format!("it has no tensor `{name}`")))
    }

    fn format_problem(&self, name: &str, found: Dtype) -> ModelError {
        self.unusable(format!("`{name}` is stored as {found:?}; F32, F16, BF16 and I8 can be read"))
    }
}

/// A table with one row of numbers per token, decoded when a row is read.
#[derive(Debug, Clone)]
pub(crate) struct Table {
    format: NumberFormat,
    rows: usize,
    width: usize,
    bytes: Vec<u8>,
}

impl Table {
    pub(crate) fn rows(&self) -> usize {
        self.rows
    }

    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The numbers of a row; empty if there is no such row.
    pub(crate) fn row(&self, row: usize) -> impl Iterator<Item = f32> + '_ {
        let length = self.width * self.format.size();
        let bytes = row.checked_mul(length).and_then(|start| self.bytes.get(start..start + length)).unwrap_or_default();
        self.format.decode(bytes)
    }
}

/// The number format of a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NumberFormat {
    F32,
    F16,
    Bf16,
    I8,
}

impl NumberFormat {
    fn of(dtype: Dtype) -> Option<Self> {
        match dtype {
            Dtype::F32 => Some(Self::F32),
            Dtype::F16 => Some(Self::F16),
            Dtype::BF16 => Some(Self::Bf16),
            Dtype::I8 => Some(Self::I8),
            _ => None,
        }
    }

    fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::F16 | Self::Bf16 => 2,
            Self::I8 => 1,
        }
    }

    fn decode(self, bytes: &[u8]) -> impl Iterator<Item = f32> {
        bytes.chunks_exact(self.size()).map(move |bytes| match (self, bytes) {
            (Self::F32, &[a, b, c, d]) => f32::from_le_bytes([a, b, c, d]),
            (Self::F16, &[a, b]) => half_to_single(u16::from_le_bytes([a, b])),
            (Self::Bf16, &[a, b]) => f32::from_bits(u32::from(u16::from_le_bytes([a, b])) << 16),
            (Self::I8, &[a]) => f32::from(a.cast_signed()),
            _ => 0.0,
        })
    }
}

/// Converts IEEE half precision to single. One shift moves exponent and fraction into place; multiplying by 2^112 then
/// corrects the exponent's bias and makes subnormal halves normal.
fn half_to_single(half: u16) -> f32 {
    let magnitude = u32::from(half & 0x7fff) << 13;
    let single = if magnitude >= 0x7c00 << 13 {
        f32::from_bits(magnitude | 0x7f80_0000)
    } else {
        f32::from_bits(magnitude) * f32::from_bits((112 + 127) << 23)
    };
    if half & 0x8000 == 0 { single } else { -single }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// A file with one tensor.
    fn file(dtype: &str, shape: &str, length: usize, data: &[u8]) -> WeightsFile {
        let header = format!(r#"{{"t":{{"dtype":"{dtype}","shape":{shape},"data_offsets":[0,{length}]}}}}"#);
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend(data);
        WeightsFile { path: "model.safetensors".into(), bytes }
    }

    #[test]
    fn numbers_are_read_in_every_kind_they_are_stored_in() {
        for (dtype, data) in [
            ("F32", [1.5_f32.to_le_bytes(), (-2.0_f32).to_le_bytes()].concat()),
            ("F16", vec![0x00, 0x3e, 0x00, 0xc0]),
            ("BF16", vec![0xc0, 0x3f, 0x00, 0xc0]),
        ] {
            let file = file(dtype, "[1,2]", data.len(), &data);
            let weights = file.tensors().expect("tensors");
            assert_eq!(weights.numbers("t", &[1, 2]).expect("numbers"), [1.5, -2.0], "{dtype}");
            let table = weights.table("t").expect("a table");
            assert_eq!(table.row(0).collect::<Vec<_>>(), [1.5, -2.0], "{dtype}");
            assert_eq!(table.row(1).count(), 0, "a row that is not there has no numbers");
        }
        let file = file("I8", "[2,1]", 2, &[5, 0xff]);
        assert_eq!(file.tensors().expect("tensors").numbers("t", &[2, 1]).expect("numbers"), [5.0, -1.0]);
    }

    #[test]
    fn halves_are_what_the_standard_says() {
        for (half, single) in [
            (0x0000, 0.0),
            (0x8000, -0.0),
            (0x3c00, 1.0),
            (0x7bff, 65504.0),
            (0x0001, 2.0_f32.powi(-24)),
            (0x03ff, 1023.0 * 2.0_f32.powi(-24)),
            (0x7c00, f32::INFINITY),
        ] {
            assert_eq!(half_to_single(half).to_bits(), single.to_bits(), "{half:#06x}");
        }
        assert!(half_to_single(0x7e00).is_nan());
    }

    #[test]
    fn a_file_that_does_not_hold_what_it_says_ends_in_a_sentence() {
        let problem = |file: &WeightsFile, shape: &[usize]| {
            let numbers = file.tensors().and_then(|weights| weights.numbers("t", shape).map(|_| ()));
            numbers.expect_err("an error").to_string()
        };
        assert!(problem(&file("F32", "[2]", 8, &[0; 4]), &[2]).contains("do not agree"));
        assert!(problem(&file("F32", "[1]", 4, &[0; 4]), &[2]).contains("shape [1], not [2]"));
        assert!(problem(&file("F32", "[9999999999,9999999999]", 8, &[0; 8]), &[2]).contains("do not agree"));
        assert!(problem(&file("I64", "[1]", 8, &[0; 8]), &[1]).contains("I64"));
        assert!(problem(&file("F32", "[1]", 4, &f32::NAN.to_le_bytes()), &[1]).contains("not a number"));
        let rows = file("I64", "[1]", 8, &7_u64.to_le_bytes());
        let rows = rows.tensors().expect("tensors");
        assert_eq!(rows.indices("t", 1, 8).expect("rows"), [7]);
        assert!(rows.indices("t", 1, 7).is_err());
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_odd(bytes in proptest::collection::vec(any::<u8>(), 0..300), header in 0_u64..200) {
            let bare = WeightsFile { path: "x".into(), bytes: bytes.clone() };
            prop_assert!(bare.tensors().is_err() || bytes.len() >= 8);
            let mut headed = header.to_le_bytes().to_vec();
            headed.extend(&bytes);
            let _ = WeightsFile { path: "x".into(), bytes: headed }.tensors();
        }

        #[test]
        fn no_shape_is_too_odd(rows in 0_usize..5, width in 0_usize..5, length in 0_usize..40, kind in 0_usize..4) {
            let dtype = ["F32", "F16", "I8", "U64"][kind];
            let file = file(dtype, &format!("[{rows},{width}]"), length, &vec![1; length]);
            if let Ok(table) = file.tensors().and_then(|weights| weights.table("t")) {
                prop_assert_eq!(table.row(rows - 1).count(), width);
            }
        }
    }
}
