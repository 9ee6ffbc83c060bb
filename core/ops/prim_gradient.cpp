// What the gradients of a model need and ONNX has no operator for: domain prim, made by passes/gradient.cpp.

#include <algorithm>
#include <cmath>

#include "core/ops/support/invoke.h"
#include "core/ops/support/row.h"
#include "core/ops/support/window.h"

namespace sonde::ops {

namespace {

base::Result<Tensor> wideCopy(const Tensor& x) {
    SONDE_ASSIGN(const Tensor wide, x.cast(DType::Float64));
    return wide.contiguous();
}

base::Result<void> give(KernelContext& context, std::size_t output, const Tensor& wide, DType dtype) {
    SONDE_ASSIGN(Tensor made, wide.cast(dtype));
    context.setOutput(output, Value(std::move(made)));
    return {};
}

/// dx = Σ of g over the axes along which x was broadcast to g's shape.
base::Result<void> sumTo(KernelContext& context) {
    const Tensor& g = context.in("g");
    const Shape shape = context.in("x").shape();
    SONDE_ASSIGN(const Tensor wide, wideCopy(g));
    SONDE_ASSIGN(Tensor sum, Tensor::zeros(DType::Float64, shape));
    // Where each element of g belongs: x's own elements, broadcast as x was.
    SONDE_ASSIGN(const Tensor places, sum.expanded(g.shape()));
    double* out = sum.numel() > 0 ? sum.mutableData<double>() : nullptr;
    for (std::int64_t i = 0; i < g.numel(); ++i) out[places.elementOffset(i)] += wide.data<double>()[i];
    return give(context, 0, sum, g.dtype());
}

/// A window over x [N,C,D…] with the dimensions of the output.
struct Sweep {
    Window window;
    std::vector<std::int64_t> spatial, outputs;
    std::int64_t pixels = 1, places = 1;

    static base::Result<Sweep> of(const Attributes& attributes, std::span<const std::int64_t> kernel, const Shape& x,
                                  const Shape& y) {
        Sweep sweep;
        if (x.rank() < 3 || y.rank() != x.rank()) return opError("needs [N,C,D…], not " + x.text());
        sweep.spatial.assign(x.dims().begin() + 2, x.dims().end());
        sweep.outputs.assign(y.dims().begin() + 2, y.dims().end());
        SONDE_ASSIGN(sweep.window, windowFromAttributes(attributes, kernel, sweep.spatial));
        SONDE_TRY(sweep.window.validate());
        if (sweep.window.rank() != sweep.spatial.size()) return opError("the window does not fit " + x.text());
        for (std::int64_t dimSize : sweep.spatial) sweep.pixels *= dimSize;
        for (std::int64_t dimSize : sweep.outputs) sweep.places *= dimSize;
        return sweep;
    }

    /// Where tap t of the window at output place p lies in the picture, -1 outside of it.
    std::int64_t source(std::int64_t p, std::int64_t t) const {
        std::int64_t at = 0, scale = 1;
        for (std::size_t axis = spatial.size(); axis-- > 0;) {
            const std::int64_t place = p % outputs[axis], tap = t % window.kernel[axis];
            p /= outputs[axis];
            t /= window.kernel[axis];
            const std::int64_t x = place * window.stride[axis] + tap * window.dilation[axis] - window.padBegin[axis];
            if (x < 0 || x >= spatial[axis]) return -1;
            at += x * scale;
            scale *= spatial[axis];
        }
        return at;
    }
    /// Whether a tap counts when padding does: not behind the end padding (ceil_mode).
    bool insidePadding(std::int64_t p, std::int64_t t) const {
        for (std::size_t axis = spatial.size(); axis-- > 0;) {
            const std::int64_t x = p % outputs[axis] * window.stride[axis] +
                                   t % window.kernel[axis] * window.dilation[axis] - window.padBegin[axis];
            p /= outputs[axis];
            t /= window.kernel[axis];
            if (x >= spatial[axis] + window.padEnd[axis]) return false;
        }
        return true;
    }
};

/// y[n,k,p] = Σ w[k,c,t]·x[n,c,s(p,t)]: dx[n,c,s] += w·g, dw[k,c,t] += x·g.
base::Result<void> convGradient(KernelContext& context) {
    const Tensor &g = context.in("g"), &x = context.in("x"), &w = context.in("w");
    if (w.rank() < 3 || x.rank() != w.rank() || g.rank() != x.rank())
        return opError("needs an image and weights of the same rank");
    const std::vector<std::int64_t> kernel(w.shape().dims().begin() + 2, w.shape().dims().end());
    SONDE_ASSIGN(const Sweep sweep, Sweep::of(context.attributes(), kernel, x.shape(), g.shape()));
    const std::int64_t groups = context.attributes().getInt("group", 1), filters = w.dim(0), perGroup = w.dim(1),
                       taps = sweep.window.taps();
    if (groups < 1 || filters % groups != 0 || perGroup * groups != x.dim(1) || g.dim(1) != filters ||
        g.dim(0) != x.dim(0))
        return opError("shapes are incompatible");
    SONDE_ASSIGN(const Tensor wideG, wideCopy(g));
    SONDE_ASSIGN(const Tensor wideX, wideCopy(x));
    SONDE_ASSIGN(const Tensor wideW, wideCopy(w));
    SONDE_ASSIGN(Tensor dx, Tensor::zeros(DType::Float64, x.shape()));
    SONDE_ASSIGN(Tensor dw, Tensor::zeros(DType::Float64, w.shape()));
    for (std::int64_t n = 0; n < x.dim(0); ++n) {
        for (std::int64_t k = 0; k < filters; ++k) {
            if (context.cancelled()) return base::cancelled();
            const std::int64_t firstChannel = k / (filters / groups) * perGroup;
            const double* rows = wideG.data<double>() + (n * filters + k) * sweep.places;
            for (std::int64_t p = 0; p < sweep.places; ++p) {
                for (std::int64_t t = 0; t < taps; ++t) {
                    const std::int64_t s = sweep.source(p, t);
                    if (s < 0) continue;
                    for (std::int64_t c = 0; c < perGroup; ++c) {
                        const std::int64_t at = (n * x.dim(1) + firstChannel + c) * sweep.pixels + s,
                                           weight = (k * perGroup + c) * taps + t;
                        dx.mutableData<double>()[at] += wideW.data<double>()[weight] * rows[p];
                        dw.mutableData<double>()[weight] += wideX.data<double>()[at] * rows[p];
                    }
                }
            }
        }
    }
    SONDE_TRY(give(context, 0, dx, x.dtype()));
    return context.wants("dw") ? give(context, 1, dw, w.dtype()) : base::Result<void>();
}

/// The share of an element in the p-norm of those under a window: sign(x)·(|x| / norm)^(p − 1).
double normShare(double x, double norm, double p) {
    if (x == 0 || norm == 0) return 0;
    return std::copysign(std::pow(std::fabs(x) / norm, p - 1), x);
}

/// MaxPool: to the first largest element of the window. AveragePool: evenly to those that were counted. LpPool: by
/// their shares in the norm.
base::Result<void> poolGradient(KernelContext& context) {
    const Tensor &g = context.in("g"), &x = context.in("x");
    SONDE_ASSIGN(const Sweep sweep, Sweep::of(context.attributes(), {}, x.shape(), g.shape()));
    const std::string kind = context.attributes().getString("kind", "MaxPool");
    const bool isMax = kind == "MaxPool", isNorm = kind == "LpPool";
    const double power = context.attributes().getFloat("p", 2);
    const bool countsPadding = context.attributes().getInt("count_include_pad", 0) != 0;
    SONDE_ASSIGN(const Tensor wideG, wideCopy(g));
    SONDE_ASSIGN(const Tensor wideX, wideCopy(x));
    SONDE_ASSIGN(Tensor dx, Tensor::zeros(DType::Float64, x.shape()));
    const std::int64_t taps = sweep.window.taps();
    for (std::int64_t plane = 0; plane < x.dim(0) * x.dim(1) && x.numel() > 0; ++plane) {
        if (context.cancelled()) return base::cancelled();
        const double* picture = wideX.data<double>() + plane * sweep.pixels;
        double* to = dx.mutableData<double>() + plane * sweep.pixels;
        for (std::int64_t p = 0; p < sweep.places; ++p) {
            const double share = wideG.data<double>()[plane * sweep.places + p];
            std::int64_t best = -1, counted = 0;
            double powers = 0;
            for (std::int64_t t = 0; t < taps; ++t) {
                const std::int64_t s = sweep.source(p, t);
                if (s >= 0 && (best < 0 || picture[s] > picture[best])) best = s;
                if (s >= 0 || (countsPadding && sweep.insidePadding(p, t))) ++counted;
                if (s >= 0 && isNorm) powers += std::pow(std::fabs(picture[s]), power);
            }
            if (best < 0) continue;
            if (isMax) {
                to[best] += share;
                continue;
            }
            const double norm = isNorm ? std::pow(powers, 1 / power) : 0;
            for (std::int64_t t = 0; t < taps; ++t) {
                const std::int64_t s = sweep.source(p, t);
                if (s < 0) continue;
                to[s] += share * (isNorm ? normShare(picture[s], norm, power) : 1 / static_cast<double>(counted));
            }
        }
    }
    return give(context, 0, dx, x.dtype());
}

/// The cofactors of a matrix [1,n,n], row by row: its determinant times its transposed inverse and, of a singular one,
/// the determinants of what is left without a row and a column.
base::Result<std::vector<double>> cofactorsOf(KernelContext& context, const Tensor& matrix) {
    constexpr std::int64_t kMaxSingular = 32;  // rows; there are n² matrices of n - 1
    const std::int64_t n = matrix.dim(1);
    std::vector<double> cofactors(static_cast<std::size_t>(n * n), 1);
    if (n < 2) return cofactors;
    SONDE_ASSIGN(const Tensor whole, invokeAten(context, "linalg_det", {Value(matrix)}));
    if (const double determinant = whole.toDouble(0); determinant != 0) {
        SONDE_ASSIGN(const Tensor inverse, invokeAten(context, "linalg_inv", {Value(matrix)}));
        for (std::int64_t i = 0; i < n * n; ++i)
            cofactors[static_cast<std::size_t>(i)] = determinant * inverse.toDouble(i % n * n + i / n);
        return cofactors;
    }
    if (n > kMaxSingular)
        return opError("a singular matrix of more than " + std::to_string(kMaxSingular) + " rows has no gradient here");
    std::vector<double> minors;
    for (std::int64_t at = 0; at < n * n; ++at)
        for (std::int64_t i = 0; i < n * n; ++i)
            if (i / n != at / n && i % n != at % n) minors.push_back(matrix.toDouble(i));
    SONDE_ASSIGN(const Tensor all,
                 invokeAten(context, "linalg_det", {Value(Tensor::of<double>({n * n, n - 1, n - 1}, minors))}));
    for (std::int64_t i = 0; i < n * n; ++i)
        cofactors[static_cast<std::size_t>(i)] = ((i / n + i % n) % 2 == 0 ? 1 : -1) * all.toDouble(i);
    return cofactors;
}

/// dx = g · cofactors of x.
base::Result<void> detGradient(KernelContext& context) {
    const Tensor& x = context.in("x");
    const std::int64_t n = x.rank() < 2 ? -1 : x.dim(x.rank() - 1);
    if (n < 0 || x.dim(x.rank() - 2) != n) return opError("needs square matrices, not " + x.typeText());
    SONDE_ASSIGN(const Tensor g, wideCopy(context.in("g")));
    SONDE_ASSIGN(Tensor dx, wideCopy(x));
    SONDE_ASSIGN(const Tensor matrices, dx.reshaped(Shape{g.numel(), n, n}));
    SONDE_ASSIGN(Tensor made, Tensor::zeros(DType::Float64, x.shape()));
    for (std::int64_t i = 0; i < g.numel(); ++i) {
        if (context.cancelled()) return base::cancelled();
        SONDE_ASSIGN(const Tensor matrix, matrices.sliced(0, i, 1).contiguous());
        SONDE_ASSIGN(const std::vector<double> cofactors, cofactorsOf(context, matrix));
        for (std::int64_t k = 0; k < n * n; ++k)
            made.mutableData<double>()[i * n * n + k] = g.data<double>()[i] * cofactors[static_cast<std::size_t>(k)];
    }
    return give(context, 0, made, x.dtype());
}

base::Result<void> inferLikeSecond(InferContext& context) {
    context.set(context.in("x"));
    return {};
}

base::Result<void> inferConvGradient(InferContext& context) {
    context.set(context.in("x"));
    context.set("dw", context.in("w"));
    return {};
}

}  // namespace

void define_prim_gradient(Registry& registry) {
    const auto row = [](std::string_view name, std::string_view summary) {
        Row made(name, 0, summary, Category::Other);
        made.domain("prim").in("g", kFloats).in("x");
        return made;
    };
    const auto window = [](Row made) {
        return made.attrString("auto_pad", "NOTSET")
            .attrInts("dilations")
            .attrInts("kernel_shape")
            .attrInts("pads")
            .attrInts("strides");
    };
    registry.add(row("grad_sum_to", "Gradient of what was broadcast: summed along the axes that x does not have")
                     .out("dx")
                     .runs(sumTo, inferLikeSecond));
    registry.add(row("grad_det", "Gradient of determinants' matrices").out("dx").runs(detGradient, inferLikeSecond));
    registry.add(window(row("grad_conv", "Gradient of a convolution's input and weights"))
                     .in("w", kFloats)
                     .out("dx")
                     .out("dw")
                     .attrInt("group", 1)
                     .runs(convGradient, inferConvGradient));
    registry.add(window(row("grad_pool", "Gradient of a pool's input"))
                     .out("dx")
                     .attrString("kind", "MaxPool")
                     .attrFloat("p", 2)
                     .attrInt("ceil_mode", 0)
                     .attrInt("count_include_pad", 0)
                     .attrInt("storage_order", 0)
                     .runs(poolGradient, inferLikeSecond));
}

}  // namespace sonde::ops
