// com.microsoft: weights of 2, 4 or 8 bits in blocks with a scale and a zero point each. They are never unpacked as a
// whole: a product asks for them panel by panel.

#include "core/ops/dependence/region.h"
#include "core/ops/kernels/gemm.h"
#include "core/ops/support/contrib.h"

namespace sonde::ops {

namespace {

/// B [N, blocks, block·bits/8], scales [N, blocks], zero points packed [N, ⌈blocks·bits/8⌉] or like the scales.
struct BlockWeights {
    Tensor packed, scales, zeros, groups;
    std::int64_t n = 0, k = 0, bits = 4, block = 32, blocks = 0;
    bool packedZeros = false;

    static BlockWeights of(Eager& e) {
        const Attributes& attributes = e.context().attributes();
        BlockWeights w;
        w.n = attributes.getInt("N", 0), w.k = attributes.getInt("K", 0), w.bits = attributes.getInt("bits", 4),
        w.block = attributes.getInt("block_size", 32);
        if (w.bits != 2 && w.bits != 4 && w.bits != 8)
            e.fail("weights of " + std::to_string(w.bits) + " bits are not defined");
        constexpr std::int64_t kMax = std::int64_t{1} << 40;
        if (w.n < 1 || w.k < 1 || w.n > kMax || w.k > kMax || w.block < 16 || w.block > w.k + (std::int64_t{1} << 20))
            e.fail("K, N or block_size are out of range");
        w.blocks = (w.k - 1) / w.block + 1;
        w.packed = e.tensor("B");
        w.scales = e.as(e.tensor("scales"), DType::Float32);
        // Sizes are compared without products that may overflow.
        const std::int64_t bytes = w.blocks * (w.block * w.bits / 8);
        if (w.packed.numel() / w.n != bytes || w.packed.numel() % w.n || w.scales.numel() / w.n != w.blocks ||
            w.scales.numel() % w.n) {
            e.fail("weights " + e.tensor("B").typeText() + " and scales " + e.tensor("scales").typeText() +
                   " do not match N " + std::to_string(w.n) + " and K " + std::to_string(w.k));
        }
        if (e.has("zero_points")) {
            w.packedZeros = e.tensor("zero_points").dtype() == DType::UInt8;
            w.zeros = w.packedZeros ? e.tensor("zero_points") : e.as(e.tensor("zero_points"), DType::Float32);
            if (w.zeros.numel() != w.n * (w.packedZeros ? (w.blocks * w.bits + 7) / 8 : w.blocks))
                e.fail("zero points " + e.tensor("zero_points").typeText() + " do not match");
        }
        if (e.has("g_idx")) {
            w.groups = e.tensor("g_idx");
            if (w.groups.numel() < w.k) e.fail("g_idx " + w.groups.typeText() + " is shorter than K");
            for (std::int64_t i = 0; i < w.k; ++i) {
                if (w.groups.toInt64(i) < 0 || w.groups.toInt64(i) >= w.blocks)
                    e.fail("g_idx names block " + std::to_string(w.groups.toInt64(i)));
            }
        }
        return w;
    }

    float at(std::int64_t row, std::int64_t i) const {
        const std::int64_t b = groups.defined() ? groups.data<std::int32_t>()[i] : i / block;
        const float scale = scales.data<float>()[row * blocks + b];
        float zero = static_cast<float>(1 << (bits - 1));
        if (packedZeros)
            zero =
                static_cast<float>(packedNumber(zeros.data<std::uint8_t>() + row * ((blocks * bits + 7) / 8), b, bits));
        else if (zeros.defined()) zero = zeros.data<float>()[row * blocks + b];
        const std::uint8_t* blob = packed.data<std::uint8_t>() + (row * blocks + i / block) * (block * bits / 8);
        return (static_cast<float>(packedNumber(blob, i % block, bits)) - zero) * scale;
    }
};

/// A·Bᵀ + bias. Inputs: A [.., K], B, scales, zero points, g_idx, bias.
EagerResult nbitsProduct(Eager& e) {
    if (e.context().attributes().getInt("weight_prepacked", 0) != 0)
        e.fail("weights in a layout of a graphics card cannot be read");
    const BlockWeights weights = BlockWeights::of(e);
    const Tensor a = e.as(e.tensor("A"), DType::Float32);
    if (a.rank() < 1 || a.dim(a.rank() - 1) != weights.k)
        e.fail(a.typeText() + " does not have " + std::to_string(weights.k) + " columns");
    Shape shape = a.shape();
    shape[shape.rank() - 1] = weights.n;
    Tensor y = e.get(Tensor::allocate(DType::Float32, shape));
    const kernels::PanelSource<float> source = [&](std::int64_t k0, std::int64_t kc, std::int64_t n0, std::int64_t nr,
                                                   float* target) {
        for (std::int64_t i = 0; i < kc; ++i) {
            for (std::int64_t j = 0; j < nr; ++j)
                target[i * nr + j] = n0 + j < weights.n ? weights.at(n0 + j, k0 + i) : 0.0F;
        }
    };
    kernels::GemmCall<float> call;
    call.m = a.numel() / weights.k, call.n = weights.n, call.k = weights.k;
    call.left = {a.data<float>(), weights.k, 1};
    call.rightSource = &source;
    call.c = y.mutableData<float>();
    call.ldc = weights.n;
    kernels::gemm(call, e.context().pool());
    if (e.has("bias")) y = e("add.Tensor", y, e.as(e.tensor("bias"), DType::Float32));
    if (y.shape() != shape) e.fail("bias " + e.tensor("bias").typeText() + " does not match");
    return e.as(y, e.tensor("A").dtype());
}

/// The elements of a row of A, weighed by numbers that are unpacked; the scales act through these.
base::Result<Dependence> nbitsTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    BlockWeights weights;
    SONDE_TRY(runEager(call.context, [&](Eager& e) {
        weights = BlockWeights::of(e);
        return EagerResult(Value());
    }));
    const std::size_t a = context.position("A");
    const std::int64_t row = call.element / weights.n, column = call.element % weights.n;
    if ((row + 1) * weights.k > context.in(a).numel()) return opError("the result does not match A");
    SONDE_TRY(dependence::checkTerms(weights.k + weights.blocks));
    Dependence made;
    made.formula = "sum(w * x)";
    const std::uint32_t part = made.listPart("x", "w"), scales = made.listPart("scale");
    for (std::int64_t i = 0; i < weights.k; ++i) {
        dependence::addElement(made, part, call, a, row * weights.k + i);
        made.terms.back().weight = static_cast<double>(weights.at(column, i));
    }
    for (std::int64_t b = 0; b < weights.blocks; ++b) {
        dependence::addElement(made, scales, call, context.position("scales"), column * weights.blocks + b);
        made.terms.back().weight = 0;
    }
    if (!context.has(call.op.position("bias"))) return made;
    made.formula += " + bias";
    dependence::addElement(made, made.part("bias"), call, call.op.position("bias"), column);
    return made;
}

base::Result<void> inferNbitsProduct(InferContext& context) {
    std::optional<Dims> dims = context.in("A").shape;
    if (dims && !dims->empty()) dims->back() = Dim::of(context.attributes().getInt("N", 0));
    setLike(context, "A", std::move(dims));
    return {};
}

/// data as numbers one by one: int4 and uint4 are kept so; bytes hold several along the last axis.
struct BlockTable {
    Tensor values, scales, zeros;
    Shape shape;
    std::int64_t bits = 8, block = 128;
    std::size_t axis = 0;
    bool packed = false, floating = false;

    /// Where element `flat` of `shape` has its scale or zero point: in `shape` with the axis divided by the block.
    std::int64_t blockOf(std::int64_t flat) const {
        std::int64_t inner = 1;
        for (std::size_t i = axis + 1; i < shape.rank(); ++i) inner *= shape[i];
        const std::int64_t dimSize = shape[axis], blocks = (dimSize - 1) / block + 1;
        return (flat / (inner * dimSize) * blocks + flat / inner % dimSize / block) * inner + flat % inner;
    }
    double at(std::int64_t flat) const {
        if (floating) return values.toDouble(flat) * scales.toDouble(blockOf(flat));
        const std::int64_t last = shape[shape.rank() - 1];
        double value =
            packed ? packedNumber(values.data<std::uint8_t>() + flat / last * (last * bits / 8), flat % last, bits)
                   : values.toDouble(flat);
        const std::int64_t b = blockOf(flat);
        double zero = packed ? static_cast<double>(1U << (bits - 1)) : 0.0;
        if (zeros.defined() && packed) {
            const std::int64_t row = scales.dim(scales.rank() - 1), stride = (row * bits + 7) / 8;
            zero = packedNumber(zeros.data<std::uint8_t>() + b / row * stride, b % row, bits);
        } else if (zeros.defined()) {
            zero = zeros.toDouble(b);
        }
        return (value - zero) * scales.toDouble(b);
    }
};

BlockTable tableOf(Eager& e) {
    const Attributes& attributes = e.context().attributes();
    BlockTable table;
    table.values = e.tensor("data"), table.scales = e.tensor("scales"),
    table.block = attributes.getInt("block_size", 128);
    table.floating = tensor::isFloating(table.values.dtype());
    table.packed = table.values.dtype() == DType::UInt8;
    table.bits = table.packed ? attributes.getInt("bits", 4) : 8;
    table.shape = table.values.shape();
    const std::size_t rank = table.shape.rank();
    if (rank < 1 || table.values.numel() < 1) e.fail("cannot gather from " + table.values.typeText());
    if (table.bits != 2 && table.bits != 4 && table.bits != 8)
        e.fail("numbers of " + std::to_string(table.bits) + " bits are not defined");
    table.shape[rank - 1] *= 8 / table.bits;
    table.axis = e.axisOf(attributes.getInt("quantize_axis", 1), rank);
    if (table.block == 0 && table.floating) table.block = table.shape[table.axis];
    if (table.block < 1) e.fail("block_size " + std::to_string(table.block) + " is out of range");
    Shape expected = table.shape;
    expected[table.axis] = (expected[table.axis] - 1) / table.block + 1;
    if (table.floating && table.scales.shape() != expected)
        table.scales = e.get(e.get(table.scales.expanded(expected)).contiguous());
    if (table.scales.shape() != expected)
        e.fail("scales " + table.scales.typeText() + " do not match " + table.values.typeText());
    if (e.has("zero_points")) {
        table.zeros = e.tensor("zero_points");
        if (table.packed) expected[rank - 1] = (expected[rank - 1] * table.bits + 7) / 8;
        if (table.zeros.shape() != expected || table.floating)
            e.fail("zero points " + table.zeros.typeText() + " do not match " + table.values.typeText());
    }
    return table;
}

/// Gather along gather_axis, dequantised; an index outside gives zeros. Inputs: data, indices, scales, zero points.
EagerResult gatherBlocks(Eager& e) {
    const BlockTable table = tableOf(e);
    const std::size_t axis = e.axisOf(e.context().attributes().getInt("gather_axis", 0), table.shape.rank());
    if (table.packed && axis != 0) e.fail("bytes are gathered along axis 0 only");
    const Tensor indices = e.tensor("indices");
    Shape shape;
    std::int64_t outer = 1, inner = 1;
    for (std::size_t i = 0; i < axis; ++i) shape.push_back(table.shape[i]), outer *= table.shape[i];
    for (std::int64_t dimSize : indices.shape()) shape.push_back(dimSize);
    for (std::size_t i = axis + 1; i < table.shape.rank(); ++i)
        shape.push_back(table.shape[i]), inner *= table.shape[i];
    Tensor y = e.get(Tensor::zeros(DType::Float32, shape));
    const std::int64_t dimSize = table.shape[axis], count = indices.numel();
    e.context().pool().parallelFor(static_cast<std::size_t>(outer * count), 1, [&](std::size_t begin, std::size_t end) {
        for (auto line = static_cast<std::int64_t>(begin); line < static_cast<std::int64_t>(end); ++line) {
            std::int64_t index = indices.toInt64(line % count);
            if (index < 0) index += dimSize;
            if (index < 0 || index >= dimSize) continue;
            const std::int64_t from = (line / count * dimSize + index) * inner;
            for (std::int64_t i = 0; i < inner; ++i)
                y.mutableData<float>()[line * inner + i] = static_cast<float>(table.at(from + i));
        }
    });
    return e.as(y, e.tensor("scales").dtype());
}

/// A number that is unpacked, times the scale of its block.
base::Result<Dependence> blockTerms(const ElementCall& call) {
    const KernelContext& context = call.context;
    BlockTable table;
    SONDE_TRY(runEager(call.context, [&](Eager& e) {
        table = tableOf(e);
        return EagerResult(Value());
    }));
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("gather_axis", 0), table.shape.rank()));
    const Tensor& indices = context.in("indices");
    std::int64_t inner = 1;
    for (std::size_t i = axis + 1; i < table.shape.rank(); ++i) inner *= table.shape[i];
    const std::int64_t line = call.element / inner, position = line % std::max<std::int64_t>(indices.numel(), 1);
    std::int64_t index = indices.toInt64(position);
    if (index < 0) index += table.shape[axis];
    if (index < 0 || index >= table.shape[axis]) return dependence::constantElement(0);
    const std::int64_t flat = (line / indices.numel() * table.shape[axis] + index) * inner + call.element % inner;
    const std::int64_t block = table.blockOf(flat);
    const std::size_t scales = context.position("scales");
    const double scale = table.scales.toDouble(block);
    Dependence made;
    made.formula = "number * scale";
    made.number("number", scale == 0 ? 0 : table.at(flat) / scale);
    if (context.in(scales).shape() == table.scales.shape())
        dependence::addElement(made, made.part("scale"), call, scales, block);
    else made.number("scale", scale);
    dependence::addElement(made, made.part("index"), call, context.position("indices"), position);
    made.terms.back().weight = 0;
    return made;
}

base::Result<void> inferGatherBlocks(InferContext& context) {
    const auto &data = context.in("data").shape, &indices = context.in("indices").shape;
    std::optional<Dims> dims;
    if (data && indices && context.in("data").dtype != DType::Undefined) {
        SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("gather_axis", 0), data->size()));
        dims = Dims(data->begin(), data->begin() + static_cast<std::ptrdiff_t>(axis));
        dims->insert(dims->end(), indices->begin(), indices->end());
        dims->insert(dims->end(), data->begin() + static_cast<std::ptrdiff_t>(axis) + 1, data->end());
        const std::int64_t bits = context.attributes().getInt("bits", 4);
        if (context.in("data").dtype == DType::UInt8 && !dims->empty() && axis + 1 < data->size() && bits > 0) {
            dims->back() = dims->back().known() ? Dim::of(dims->back().value * (8 / bits)) : Dim{};
        }
    }
    context.set(TypeInfo::tensor(context.in("scales").dtype, std::move(dims)));
    return {};
}

}  // namespace

void define_contrib_nbits(Registry& registry) {
    constexpr DTypeSet kEighths = bit(DType::Float8E4M3FN) | bit(DType::Float8E4M3FNUZ) | bit(DType::Float8E5M2) |
                                  bit(DType::Float8E5M2FNUZ) | bit(DType::Float4E2M1);
    registry.add(contribRow("MatMulNBits", "matrix product with weights of 2, 4 or 8 bits", Category::Quantization)
                     .in("A", kContribFloats, "T")
                     .in("B", bit(DType::UInt8))
                     .in("scales", kContribFloats, "T")
                     .optionalIn("zero_points", kContribFloats | bit(DType::UInt8))
                     .optionalIn("g_idx", kInt32)
                     .optionalIn("bias", kContribFloats, "T")
                     .out("Y")
                     .required("K", AttributeKind::Int)
                     .required("N", AttributeKind::Int)
                     .attrInt("accuracy_level", 0)
                     .attrInt("bits", 4)
                     .required("block_size", AttributeKind::Int)
                     .attrInt("weight_prepacked", 0)
                     .runs(nbitsProduct, inferNbitsProduct));
    registry.add(
        contribRow("GatherBlockQuantized", "slices that indices name, of a table of few bits", Category::Quantization)
            .in("data", kInt4s | bit(DType::UInt8) | kEighths, "T")
            .in("indices", kIndex)
            .in("scales", kContribFloats)
            .optionalIn("zero_points", kInt4s | bit(DType::UInt8), "T")
            .out("output")
            .attrInt("bits", 4)
            .attrInt("block_size", 128)
            .attrInt("gather_axis", 0)
            .attrInt("quantize_axis", 1)
            .runs(gatherBlocks, inferGatherBlocks));
    explain("com.microsoft", "MatMulNBits", nbitsTerms);
    explain("com.microsoft", "GatherBlockQuantized", blockTerms);
}

}  // namespace sonde::ops
