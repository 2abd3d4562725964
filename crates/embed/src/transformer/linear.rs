//! A linear layer, `y = x W + b`, in eight-bit integers.
//!
//! Weights are quantised once, with one scale per output; inputs are quantised row by row when they arrive. The
//! products are then summed exactly. A register holds four times as many of them as of `f32`, and the precision that is
//! lost does not change the meaning of a text.
//!
//! Processors without dot-product instructions add pairs of products in sixteen bits, which may saturate unless the
//! weights have seven bits. On these, every weight is split into the sum of two seven-bit halves and everything is
//! multiplied twice, so that the sums are the same on every processor. Seven-bit weights alone would rank worse;
//! `docs/SEARCH.md` has the figures.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_simd::SimdOp;
use rten_tensor::NdTensorView;
use rten_vecmath::{ExtendInit, MinMax, Quantize};

/// Multiplies integer matrices; selects the fastest kernel of the processor when it is created.
pub(crate) type IntegerGemm = GemmExecutor<u8, i8, i32>;

/// The quantised weights and the bias of one layer.
pub(crate) struct Linear {
    /// Matrices whose sum is the weights: one matrix, or two halves where products may saturate.
    weights: Vec<PackedBMatrix<i8>>,
    inputs: usize,
    /// The quantisation scale of each output's weights.
    scales: Vec<f32>,
    /// The sum of each output's quantised weights, to subtract the effect of a row's zero point.
    weight_sums: Vec<i32>,
    bias: Vec<f32>,
}

/// Buffers that are reused from layer to layer.
#[derive(Default)]
pub(crate) struct Scratch {
    quantized: Vec<u8>,
    rows: Vec<RowQuantization>,
    sums: Vec<i32>,
}

/// The quantisation of a row: 0.0 becomes `zero_point`, and one step is `scale`.
struct RowQuantization {
    zero_point: i32,
    scale: f32,
}

impl Linear {
    /// `weights` has a row for each output, as models store them.
    pub(crate) fn new(integers: &IntegerGemm, weights: &[f32], bias: Vec<f32>) -> Self {
        let outputs = bias.len();
        let inputs = weights.len() / outputs.max(1);
        let mut quantized: Vec<i8> = Vec::with_capacity(weights.len());
        let (mut scales, mut weight_sums) = (Vec::with_capacity(outputs), Vec::with_capacity(outputs));
        for row in weights.chunks_exact(inputs.max(1)) {
            let largest = row.iter().fold(0.0_f32, |largest, weight| largest.max(weight.abs()));
            let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
            // The quotient is within ±127.
            let row = row.iter().map(|weight| (weight / scale).round() as i8);
            weight_sums.push(row.clone().map(i32::from).sum());
            quantized.extend(row);
            scales.push(scale);
        }
        let pack =
            |weights: &[i8]| integers.prepack_b(NdTensorView::from_data([outputs, inputs], weights).transposed());
        let weights = if integers.may_saturate() {
            let (halves, remainders): (Vec<i8>, Vec<i8>) =
                quantized.iter().map(|weight| (weight / 2, weight - weight / 2)).unzip();
            vec![pack(&halves), pack(&remainders)]
        } else {
            vec![pack(&quantized)]
        };
        Self { weights, inputs, scales, weight_sums, bias }
    }

    pub(crate) fn outputs(&self) -> usize {
        self.bias.len()
    }

    /// Writes the outputs for each row of `x` to `out`, row by row.
    pub(crate) fn apply(&self, integers: &IntegerGemm, x: &[f32], scratch: &mut Scratch, out: &mut Vec<f32>) {
        let rows = x.len() / self.inputs;
        scratch.quantize(x, self.inputs);
        scratch.sums.clear();
        scratch.sums.resize(rows * self.outputs(), 0);
        for weights in &self.weights {
            let result = integers.gemm(
                &mut scratch.sums,
                GemmInputA::Unpacked(NdTensorView::from_data([rows, self.inputs], scratch.quantized.as_slice())),
                GemmInputB::Packed(weights),
                GemmOptions { beta: 1, ..GemmOptions::default() },
            );
            // Cannot fail: the shapes are derived from each other, and `prepack_b` of the same executor type packed the
            // weights.
            debug_assert!(result.is_ok(), "{result:?}");
        }
        out.clear();
        out.reserve(scratch.sums.len());
        for (sums, row) in scratch.sums.chunks_exact(self.outputs()).zip(&scratch.rows) {
            let columns = sums.iter().zip(&self.weight_sums).zip(&self.scales).zip(&self.bias);
            out.extend(columns.map(|(((sum, weights), scale), bias)| {
                (sum - row.zero_point * weights) as f32 * (row.scale * scale) + bias
            }));
        }
    }
}

impl Scratch {
    /// Quantises each row to 0..=255 between its own minimum and maximum; 0.0 is represented exactly.
    fn quantize(&mut self, x: &[f32], width: usize) {
        self.quantized.clear();
        self.quantized.reserve(x.len());
        self.rows.clear();
        for row in x.chunks_exact(width) {
            let (min, max) = MinMax::new(row).dispatch();
            let (min, max) = (min.min(0.0), max.max(0.0));
            let scale = ((max - min) / 255.0).max(f32::MIN_POSITIVE);
            // Within 0..=255, because 0 ≤ -min ≤ 255 × scale.
            let zero_point = (-min / scale).round() as u8;
            self.quantized
                .extend_init(|buffer| Quantize::new(row, &mut buffer[..width], 1.0 / scale, zero_point).dispatch());
            self.rows.push(RowQuantization { zero_point: i32::from(zero_point), scale });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sums_are_exact_on_every_processor(
            // Extreme values side by side make the largest sums.
            weights in proptest::collection::vec(prop_oneof![Just(1.0_f32), Just(-1.0), -1.0_f32..1.0], 3 * 64),
            x in proptest::collection::vec(prop_oneof![Just(0.0_f32), Just(255.0), 0.0_f32..255.0], 2 * 64),
        ) {
            let integers = IntegerGemm::new();
            let linear = Linear::new(&integers, &weights, vec![0.0; 3]);
            let (mut scratch, mut out) = (Scratch::default(), Vec::new());
            linear.apply(&integers, &x, &mut scratch, &mut out);
            let mut expected = Vec::new();
            for (row, quantization) in scratch.quantized.chunks_exact(64).zip(&scratch.rows) {
                for (weights, scale) in weights.chunks_exact(64).zip(&linear.scales) {
                    let products = row.iter().zip(weights).map(|(x, weight)| {
                        (i32::from(*x) - quantization.zero_point) * (weight / scale).round() as i32
                    });
                    expected.push(products.sum::<i32>() as f32 * (quantization.scale * scale));
                }
            }
            prop_assert_eq!(out, expected);
        }
    }
}
