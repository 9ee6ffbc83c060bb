// Random numbers. The seed of the run and the node's own seed decide them.

#include "core/base/random.h"

#include <bit>
#include <cmath>

#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

base::Random generator(KernelContext& context) {
    const double own = context.attributes().getFloat("seed", 0);
    return base::Random(context.environment().seed * base::Random::kStep ^ std::bit_cast<std::uint64_t>(own));
}

base::Result<DType> dtypeAsked(const Attributes& attributes, DType fallback) {
    const std::int64_t code = attributes.getInt("dtype", 0);
    if (code == 0) return fallback;
    if (code < 0 || code >= tensor::kDTypeCount) return opError("dtype " + std::to_string(code) + " is not supported");
    return static_cast<DType>(code);
}

base::Result<void> draw(KernelContext& context, const Shape& shape, DType fallback, bool normal) {
    const Attributes& attributes = context.attributes();
    SONDE_ASSIGN(const DType dtype, dtypeAsked(attributes, fallback));
    SONDE_ASSIGN(Tensor values, wideZeros(shape));
    base::Random random = generator(context);
    const double low = attributes.getFloat("low", 0), high = attributes.getFloat("high", 1);
    const double mean = attributes.getFloat("mean", 0), scale = attributes.getFloat("scale", 1);
    for (double& v : values.mutableSpan<double>())
        v = normal ? mean + scale * random.normal() : low + (high - low) * random.uniform();
    return setNarrow(context, 0, values, dtype);
}

base::Result<void> inferDrawn(InferContext& context, std::optional<Dims> shape, DType fallback) {
    SONDE_ASSIGN(const DType dtype, dtypeAsked(context.attributes(), fallback));
    context.set(TypeInfo::tensor(dtype, std::move(shape)));
    return {};
}

base::Result<void> bernoulli(KernelContext& context) {
    SONDE_ASSIGN(const DType dtype, dtypeAsked(context.attributes(), context.in("input").dtype()));
    SONDE_ASSIGN(const Tensor chances, wide(context.in("input")));
    SONDE_ASSIGN(Tensor values, wideZeros(chances.shape()));
    base::Random random = generator(context);
    for (std::int64_t i = 0; i < chances.numel(); ++i)
        values.mutableData<double>()[i] = random.uniform() < chances.data<double>()[i] ? 1 : 0;
    return setNarrow(context, 0, values, dtype);
}

/// Classes drawn with probabilities softmax(x) from each row of x [B, C]: [B, sample_size].
base::Result<void> multinomial(KernelContext& context) {
    const Tensor& x = context.in("input");
    const std::int64_t count = context.attributes().getInt("sample_size", 1);
    if (x.rank() != 2 || x.dim(1) < 1 || count < 0)
        return opError("cannot draw " + std::to_string(count) + " classes from " + x.typeText());
    SONDE_ASSIGN(const DType dtype, dtypeAsked(context.attributes(), DType::Int32));
    SONDE_ASSIGN(const Tensor logits, wide(x));
    SONDE_ASSIGN(Tensor values, wideZeros(Shape{x.dim(0), count}));
    base::Random random = generator(context);
    std::vector<double> sums(static_cast<std::size_t>(x.dim(1)));
    for (std::int64_t row = 0; row < x.dim(0); ++row) {
        double total = 0;
        for (std::size_t c = 0; c < sums.size(); ++c)
            sums[c] = total += std::exp(logits.data<double>()[static_cast<std::size_t>(row) * sums.size() + c]);
        for (std::int64_t i = 0; i < count; ++i) {
            const double at = random.uniform() * total;
            std::size_t c = 0;
            while (c + 1 < sums.size() && sums[c] <= at) ++c;
            values.mutableData<double>()[row * count + i] = static_cast<double>(c);
        }
    }
    return setNarrow(context, 0, values, dtype);
}

}  // namespace

void define_random(Registry& registry) {
    for (bool normal : {false, true}) {
        const std::string_view summary =
            normal ? "random numbers of a normal distribution" : "random numbers between two bounds";
        Row plain(normal ? "RandomNormal" : "RandomUniform", 1, summary, Category::Data);
        plain.out("output")
            .attrInt("dtype", 1)
            .required("shape", AttributeKind::Ints)
            .attr("seed", AttributeKind::Float)
            .random();
        Row like(normal ? "RandomNormalLike" : "RandomUniformLike", 1, summary, Category::Data);
        like.in("input").out("output").attr("dtype", AttributeKind::Int).attr("seed", AttributeKind::Float).random();
        for (Row* row : {&plain, &like}) {
            if (normal) row->attrFloat("mean", 0).attrFloat("scale", 1);
            else row->attrFloat("low", 0).attrFloat("high", 1);
        }
        registry.add(plain.runs(
            [normal](KernelContext& context) {
                return draw(context, Shape(context.attributes().getInts("shape")), DType::Float32, normal);
            },
            [](InferContext& context) {
                return inferDrawn(context, dimsOf(Shape(context.attributes().getInts("shape"))), DType::Float32);
            }));
        registry.add(like.runs(
            [normal](KernelContext& context) {
                return draw(context, context.in("input").shape(), context.in("input").dtype(), normal);
            },
            [](InferContext& context) {
                return inferDrawn(context, context.in("input").shape, context.in("input").dtype);
            }));
    }
    registry.add(Row("Bernoulli", 15, "1 with the probability in the input, else 0", Category::Data)
                     .in("input", kFloats)
                     .out("output")
                     .attr("dtype", AttributeKind::Int)
                     .attr("seed", AttributeKind::Float)
                     .random()
                     .runs(bernoulli, [](InferContext& context) {
                         return inferDrawn(context, context.in("input").shape, context.in("input").dtype);
                     }));
    registry.add(Row("Multinomial", 7, "classes drawn by their logits", Category::Data)
                     .in("input", kFloats)
                     .out("output")
                     .attrInt("dtype", 6)
                     .attrInt("sample_size", 1)
                     .attr("seed", AttributeKind::Float)
                     .random()
                     .runs(multinomial, [](InferContext& context) {
                         const auto& dims = context.in("input").shape;
                         const std::int64_t count = context.attributes().getInt("sample_size", 1);
                         return inferDrawn(
                             context,
                             Dims{dims && !dims->empty() ? dims->front() : Dim{}, count < 0 ? Dim{} : Dim::of(count)},
                             DType::Int32);
                     }));
}

}  // namespace sonde::ops
