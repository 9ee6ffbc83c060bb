// ATen's random numbers: the run's seed and the shape decide them.

#include <cmath>
#include <numbers>

#include "core/base/number_text.h"
#include "core/base/random.h"
#include "core/ops/support/eager.h"
#include "core/ops/support/shapes.h"
#include "core/ops/support/wide.h"

namespace sonde::ops {

namespace {

enum class Draw : std::uint8_t { Uniform, Normal, Integers, LogNormal, Exponential, Cauchy, Geometric };

/// One number. a and b: bounds, mean and deviation (of the logarithm), median and width; a alone: rate, chance of each
/// trial. Devroye 1986, chapter II.2 (inversion) but for normal ones.
double drawnNumber(base::Random& random, Draw how, double a, double b) {
    switch (how) {
        case Draw::Uniform: return a + (b - a) * random.uniform();
        case Draw::Integers: return std::floor(a + (b - a) * random.uniform());
        case Draw::Normal: return a + b * random.normal();
        case Draw::LogNormal: return std::exp(a + b * random.normal());
        case Draw::Exponential: return -std::log1p(-random.uniform()) / a;
        case Draw::Cauchy: return a + b * std::tan(std::numbers::pi * (random.uniform() - 0.5));
        case Draw::Geometric: return std::floor(std::log1p(-random.uniform()) / std::log1p(-a)) + 1;
    }
    return 0;
}

Tensor drawn(Eager& e, Draw how, const Shape& shape, DType dtype, double a, double b) {
    if (!shape.checkedNumel()) e.fail("no tensor has the shape " + shape.text());
    base::Random random(e.context().environment().seed * base::Random::kStep +
                        static_cast<std::uint64_t>(shape.numel()) * 3 + static_cast<std::uint64_t>(how));
    Tensor y = e.get(wideZeros(shape));
    for (double& v : y.mutableSpan<double>()) v = drawnNumber(random, how, a, b);
    return e.as(y, dtype);
}

EagerResult randomOrder(Eager& e) {
    const std::int64_t n = e.integer("n");
    if (n < 0 || n > 1'000'000'000) e.fail("an order of " + std::to_string(n) + " numbers");
    base::Random random(e.context().environment().seed + static_cast<std::uint64_t>(n));
    std::vector<std::int64_t> order(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::size_t j = static_cast<std::size_t>(random.bits() % (i + 1));
        order[i] = order[j];
        order[j] = static_cast<std::int64_t>(i);
    }
    return e.as(Tensor::of<std::int64_t>({n}, order), e.dtype("dtype", DType::Int64));
}

/// 1 with the probability p, or with that of each element.
EagerResult bernoulli(Eager& e) {
    const Tensor x = e.tensor("self"), at = drawn(e, Draw::Uniform, x.shape(), DType::Float64, 0, 1);
    const Tensor chances = e.has("p") ? Tensor::scalar<double>(e.number("p")) : e.as(x, DType::Float64);
    return e.as(e("lt.Tensor", at, chances), x.dtype());
}

/// Numbers of classes with the probability of their weight; without replacement each only once.
EagerResult multinomial(Eager& e) {
    Tensor weights = e.get(e.get(wide(e.tensor("self"))).clone());
    const std::int64_t count = e.integer("num_samples"),
                       classes = weights.rank() > 0 ? weights.dim(weights.rank() - 1) : 0;
    const bool again = e.flag("replacement");
    if (weights.rank() < 1 || weights.rank() > 2 || classes < 1 || count < 0 || (!again && count > classes))
        e.fail("cannot draw " + std::to_string(count) + " classes from " + e.tensor("self").typeText());
    const std::int64_t rows = weights.numel() / classes;
    Tensor y = e.get(Tensor::allocate(DType::Int64, weights.rank() == 1 ? Shape{count} : Shape{rows, count}));
    base::Random random(e.context().environment().seed + 17);
    for (std::int64_t row = 0; row < rows; ++row) {
        double* w = weights.mutableData<double>() + row * classes;
        for (std::int64_t i = 0; i < count; ++i) {
            double total = 0;
            for (std::int64_t c = 0; c < classes; ++c) total += w[c];
            if (!(total > 0)) e.fail("the weights of a draw add up to " + base::shortestText(total));
            double at = random.uniform() * total;
            std::int64_t c = 0;
            while (c + 1 < classes && at >= w[c]) at -= w[c++];
            y.mutableData<std::int64_t>()[row * count + i] = c;
            if (!again) w[c] = 0;
        }
    }
    return y;
}

/// Numbers in the shape of the tensor that they are written to.
EagerResult drawnInto(Eager& e, Draw how, double a, double b = 0) {
    return drawn(e, how, e.tensor("self").shape(), e.tensor("self").dtype(), a, b);
}

/// Mean and deviation for each element, of the shape that both are broadcast to.
EagerResult drawnAround(Eager& e) {
    const Tensor mean = e.tensor("mean"), deviation = e.tensor("std");
    if (e("any", e("lt.Scalar", deviation, 0)).toDouble(0) != 0) e.fail("a deviation is negative");
    const Tensor shape = e("add.Tensor", mean, deviation);
    const DType dtype = tensor::isFloating(shape.dtype()) ? shape.dtype() : DType::Float32;
    return e("add.Tensor", mean, e("mul.Tensor", deviation, drawn(e, Draw::Normal, shape.shape(), dtype, 0, 1)));
}

}  // namespace

void define_aten_random(Registry& registry) {
    const auto add = [&](std::string_view schema, std::string_view summary, EagerKernel kernel) {
        OpDef def = eagerRow(schema, summary, Category::Data, std::move(kernel));
        def.random = true;
        registry.add(std::move(def));
    };
    add("rand(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "random numbers from 0 to 1", [](Eager& e) -> EagerResult {
            return drawn(e, Draw::Uniform, Shape(e.integers("size")), e.dtype("dtype", DType::Float32), 0, 1);
        });
    add("randn(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "random numbers of a normal distribution", [](Eager& e) -> EagerResult {
            return drawn(e, Draw::Normal, Shape(e.integers("size")), e.dtype("dtype", DType::Float32), 0, 1);
        });
    add("rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "random numbers from 0 to 1", [](Eager& e) -> EagerResult {
            return drawn(e, Draw::Uniform, e.tensor("self").shape(), e.dtype("dtype", e.tensor("self").dtype()), 0, 1);
        });
    add("randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "random numbers of a normal distribution", [](Eager& e) -> EagerResult {
            return drawn(e, Draw::Normal, e.tensor("self").shape(), e.dtype("dtype", e.tensor("self").dtype()), 0, 1);
        });
    add("randint(int high, int[] size, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "random integers", [](Eager& e) -> EagerResult {
            return drawn(e, Draw::Integers, Shape(e.integers("size")), e.dtype("dtype", DType::Int64), 0,
                         e.number("high"));
        });
    add("randint.low(int low, int high, int[] size, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "random integers", [](Eager& e) -> EagerResult {
            return drawn(e, Draw::Integers, Shape(e.integers("size")), e.dtype("dtype", DType::Int64), e.number("low"),
                         e.number("high"));
        });
    add("randint_like(Tensor self, int high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        "random integers", [](Eager& e) -> EagerResult {
            return drawn(e, Draw::Integers, e.tensor("self").shape(), e.dtype("dtype", e.tensor("self").dtype()), 0,
                         e.number("high"));
        });
    add("randperm(int n, *, ScalarType? dtype=long, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "integers in a random order", randomOrder);
    add("bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", "1 with the probability of each element",
        bernoulli);
    add("bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor", "1 with a probability", bernoulli);
    add("multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
        "classes drawn by weight", multinomial);
    add("uniform(Tensor self, float from=0, float to=1, *, Generator? generator=None) -> Tensor",
        "random numbers between two bounds in x's shape", [](Eager& e) -> EagerResult {
            return drawn(e, Draw::Uniform, e.tensor("self").shape(), e.tensor("self").dtype(), e.number("from"),
                         e.number("to"));
        });
    add("normal_(Tensor(a!) self, float mean=0, float std=1, *, Generator? generator=None) -> Tensor(a!)",
        "random numbers of a normal distribution in x's shape", [](Eager& e) -> EagerResult {
            return drawn(e, Draw::Normal, e.tensor("self").shape(), e.tensor("self").dtype(), e.number("mean"),
                         e.number("std"));
        });
    for (std::string_view schema :
         {"normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor",
          "normal.Tensor_float(Tensor mean, float std=1, *, Generator? generator=None) -> Tensor",
          "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor"}) {
        add(schema, "random numbers of normal distributions", drawnAround);
    }
    add("normal.float_float(float mean, float std, int[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        "random numbers of a normal distribution", [](Eager& e) -> EagerResult {
            return drawn(e, Draw::Normal, Shape(e.integers("size")), e.dtype("dtype", DType::Float32), e.number("mean"),
                         e.number("std"));
        });
    add("log_normal_(Tensor(a!) self, float mean=1, float std=2, *, Generator? generator=None) -> Tensor(a!)",
        "e to random numbers of a normal distribution, in x's shape",
        [](Eager& e) { return drawnInto(e, Draw::LogNormal, e.number("mean"), e.number("std")); });
    add("exponential_(Tensor(a!) self, float lambd=1, *, Generator? generator=None) -> Tensor(a!)",
        "random waiting times in x's shape", [](Eager& e) {
            if (!(e.number("lambd") > 0)) e.fail("the rate is not positive");
            return drawnInto(e, Draw::Exponential, e.number("lambd"));
        });
    add("cauchy_(Tensor(a!) self, float median=0, float sigma=1, *, Generator? generator=None) -> Tensor(a!)",
        "random numbers of a Cauchy distribution in x's shape",
        [](Eager& e) { return drawnInto(e, Draw::Cauchy, e.number("median"), e.number("sigma")); });
    add("geometric_(Tensor(a!) self, float p, *, Generator? generator=None) -> Tensor(a!)",
        "random counts of trials up to the first success, in x's shape", [](Eager& e) {
            if (!(e.number("p") > 0 && e.number("p") < 1)) e.fail("the chance is not between 0 and 1");
            return drawnInto(e, Draw::Geometric, e.number("p"));
        });
    add("random_.from(Tensor(a!) self, int from, int? to, *, Generator? generator=None) -> Tensor(a!)",
        "random integers in x's shape", [](Eager& e) {
            if (!e.has("to")) e.fail("random integers without an end are not known");
            return drawnInto(e, Draw::Integers, e.number("from"), e.number("to"));
        });
    add("random_.to(Tensor(a!) self, int to, *, Generator? generator=None) -> Tensor(a!)",
        "random integers in x's shape", [](Eager& e) { return drawnInto(e, Draw::Integers, 0, e.number("to")); });
}

}  // namespace sonde::ops
