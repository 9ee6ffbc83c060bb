// Reductions over axes.

#include "core/ops/kernels/reduce.h"

#include <algorithm>

#include "core/ops/dependence/rules.h"
#include "core/ops/support/invoke.h"
#include "core/ops/support/promotion.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using kernels::Reduce;
using tensor::Dim;

std::vector<std::int64_t> allAxes(std::size_t rank) {
    std::vector<std::int64_t> axes;
    for (std::size_t i = 0; i < rank; ++i) axes.push_back(static_cast<std::int64_t>(i));
    return axes;
}

base::Result<void> onnxReduce(KernelContext& context, Reduce kind) {
    const Tensor& x = context.in("data");
    std::vector<std::int64_t> axes = context.attributes().getInts("axes");
    if (context.has("axes")) {
        SONDE_ASSIGN(axes, intsOf(context.value("axes")));
    }
    if (axes.empty()) {
        if (context.attributes().getInt("noop_with_empty_axes", 0) != 0) {
            // Each element is then a reduction by itself.
            return kernels::reduce(context, kind, x, {}, true);
        }
        axes = allAxes(x.rank());
    }
    SONDE_ASSIGN(const std::vector<std::size_t> on, axesOf(axes, x.rank()));
    return kernels::reduce(context, kind, x, on, context.attributes().getInt("keepdims", 1) != 0);
}

void inferOver(InferContext& context, const std::vector<std::size_t>& axes, bool keepDims, DType dtype,
               std::size_t output = 0) {
    Dims dims;
    const Dims& in = *context.in({"data", "self"}).shape;
    for (std::size_t i = 0; i < in.size(); ++i) {
        if (std::ranges::find(axes, i) == axes.end()) dims.push_back(in[i]);
        else if (keepDims) dims.push_back(Dim::of(1));
    }
    context.set(output, TypeInfo::tensor(dtype, std::move(dims)));
}

base::Result<void> inferReduce(InferContext& context) {
    const std::optional<Dims>& in = context.in("data").shape;
    const bool keepDims = context.attributes().getInt("keepdims", 1) != 0;
    if (!in) {
        setLike(context, "data", std::nullopt);
        return {};
    }
    std::vector<std::int64_t> axes = context.attributes().getInts("axes");
    if (context.inputCount() > 1 && context.has("axes")) {
        if (context.constant("axes").isNone()) {
            setLike(context, "data", keepDims ? std::optional(unknownDims(in->size())) : std::nullopt);
            return {};
        }
        SONDE_ASSIGN(axes, intsOf(context.constant("axes")));
    }
    if (axes.empty()) {
        if (context.attributes().getInt("noop_with_empty_axes", 0) != 0) return inferSame(context);
        axes = allAxes(in->size());
    }
    SONDE_ASSIGN(const std::vector<std::size_t> on, axesOf(axes, in->size()));
    inferOver(context, on, keepDims, context.in("data").dtype);
    return {};
}

base::Result<void> argExtreme(KernelContext& context, bool smallest) {
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", 0), context.in("data").rank()));
    return kernels::argReduce(context, context.in("data"), axis, context.attributes().getInt("keepdims", 1) != 0,
                              smallest, context.attributes().getInt("select_last_index", 0) != 0);
}

base::Result<void> inferArg(InferContext& context) {
    const std::optional<Dims>& in = context.in("data").shape;
    if (!in) {
        context.set(TypeInfo::tensor(DType::Int64));
        return {};
    }
    SONDE_ASSIGN(const std::size_t axis, axisOf(context.attributes().getInt("axis", 0), in->size()));
    inferOver(context, {axis}, context.attributes().getInt("keepdims", 1) != 0, DType::Int64);
    return {};
}

void addOnnx(Registry& registry, std::string_view name, std::string_view summary, Reduce kind) {
    const auto run = [kind](KernelContext& context) { return onnxReduce(context, kind); };
    registry.add(Row(name, 1, summary, Category::Reduction)
                     .in("data", kNumbers)
                     .out("reduced")
                     .attrInts("axes")
                     .attrInt("keepdims", 1)
                     .runs(run, inferReduce));
    const int since = name == "ReduceSum" ? 13 : 18;
    registry.add(Row(name, since, summary, Category::Reduction)
                     .in("data", kNumbers | kBool)
                     .optionalIn("axes", kInt64)
                     .out("reduced")
                     .attrInt("keepdims", 1)
                     .attrInt("noop_with_empty_axes", 0)
                     .attrInts("axes")
                     .runs(run, inferReduce));
}

// ATen: dim (a number, a list, none or empty for all), keepdim.

base::Result<std::vector<std::size_t>> atenAxes(const Value& dims, std::size_t rank) {
    std::vector<std::int64_t> axes;
    if (!dims.isNone()) {
        SONDE_ASSIGN(axes, intsOf(dims));
    }
    if (axes.empty() || rank == 0) axes = allAxes(rank);
    return axesOf(axes, rank);
}

struct AtenReduce {
    Reduce kind;
    bool hasDims, floatResult, sumResult;
};

/// Sums and means of complex numbers: real and imaginary parts by themselves.
base::Result<void> reduceComplex(KernelContext& context, Reduce kind, const Tensor& x,
                                 const std::vector<std::size_t>& axes, bool keep) {
    if (kind != Reduce::Sum && kind != Reduce::Mean) return opError("is not defined for " + x.typeText());
    SONDE_ASSIGN(const Tensor pairs, invokeAten(context, "view_as_real", {Value(x)}));
    SONDE_TRY(kernels::reduce(context, kind, pairs, axes, keep));
    std::vector<Value> outputs = context.takeOutputs();
    SONDE_ASSIGN(Tensor result, invokeAten(context, "view_as_complex", {outputs.front()}));
    outputs.front() = Value(std::move(result));
    context.setOutputs(std::move(outputs));
    return {};
}

base::Result<void> atenReduce(KernelContext& context, const AtenReduce& row) {
    Tensor x = context.in("self");
    if (context.has("dtype")) {
        SONDE_ASSIGN(const std::int64_t number, intOf(context.value("dtype")));
        const auto dtype = dtypeFromTorch(number);
        if (!dtype) return opError("there is no element type " + std::to_string(number));
        SONDE_ASSIGN(x, x.cast(*dtype));
    }
    const bool isComplex = tensor::isComplex(x.dtype());
    if (row.floatResult && !tensor::isFloating(x.dtype()) && !isComplex) {
        SONDE_ASSIGN(x, x.cast(DType::Float32));
    } else if (row.sumResult && !tensor::isFloating(x.dtype()) && !tensor::isComplex(x.dtype())) {
        SONDE_ASSIGN(x, x.cast(DType::Int64));
    } else if (row.kind == Reduce::All || row.kind == Reduce::Any) {
        SONDE_ASSIGN(x, x.cast(DType::Bool));
    }
    SONDE_ASSIGN(const std::vector<std::size_t> axes, atenAxes(row.hasDims ? context.value("dim") : Value(), x.rank()));
    const bool keep = row.hasDims && context.inputCount() > 2 && context.value("keepdim").kind() == ValueKind::Bool &&
                      context.value("keepdim").toBool();
    if (tensor::isComplex(x.dtype())) return reduceComplex(context, row.kind, x, axes, keep);
    return kernels::reduce(context, row.kind, x, axes, keep);
}

base::Result<void> inferAtenReduce(InferContext& context, const AtenReduce& row) {
    const TypeInfo& x = context.in("self");
    DType dtype = x.dtype;
    if (dtype != DType::Undefined && !tensor::isFloating(dtype) && !tensor::isComplex(dtype)) {
        if (row.floatResult) dtype = DType::Float32;
        else if (row.sumResult) dtype = DType::Int64;
    }
    if (row.kind == Reduce::All || row.kind == Reduce::Any) dtype = DType::Bool;
    if (context.constant("dtype").kind() == ValueKind::Int) {
        dtype = dtypeFromTorch(context.constant("dtype").toInt()).value_or(DType::Undefined);
    }
    if (!x.shape) {
        context.set(TypeInfo::tensor(dtype));
        return {};
    }
    const bool isOpen =
        row.hasDims && context.has("dim") && context.constant("dim").isNone();  // only a run knows the axes
    if (isOpen) {
        context.set(TypeInfo::tensor(dtype));
        return {};
    }
    SONDE_ASSIGN(const std::vector<std::size_t> axes,
                 atenAxes(row.hasDims ? context.constant("dim") : Value(), x.shape->size()));
    const bool keep =
        row.hasDims && context.constant("keepdim").kind() == ValueKind::Bool && context.constant("keepdim").toBool();
    inferOver(context, axes, keep, dtype);
    return {};
}

/// argmax and argmin without dim look at the flattened tensor.
base::Result<void> atenArg(KernelContext& context, bool smallest) {
    Tensor x = context.in("self");
    std::size_t axis = 0;
    bool keep = context.value("keepdim").kind() == ValueKind::Bool && context.value("keepdim").toBool();
    if (!context.has("dim") || x.rank() == 0) {
        // Kept, all axes but the last are 1 beforehand.
        keep = keep && !context.has("dim") && x.rank() > 0;
        std::vector<std::int64_t> line(keep ? x.rank() : 1, 1);
        line.back() = x.numel();
        axis = line.size() - 1;
        SONDE_ASSIGN(x, x.reshaped(Shape(line)));
    } else {
        SONDE_ASSIGN(const std::int64_t given, intOf(context.value("dim")));
        SONDE_ASSIGN(axis, axisOf(given, x.rank()));
    }
    return kernels::argReduce(context, x, axis, keep, smallest, false);
}

/// max.dim and min.dim: values and their positions.
base::Result<void> atenExtreme(KernelContext& context, bool smallest) {
    const Tensor& x = context.in("self");
    SONDE_ASSIGN(const std::int64_t given, intOf(context.value("dim")));
    SONDE_ASSIGN(const std::size_t axis, axisOf(given, x.rank()));
    const bool keep = context.value("keepdim").kind() == ValueKind::Bool && context.value("keepdim").toBool();
    const std::size_t axes[] = {axis};
    SONDE_TRY(kernels::reduce(context, smallest ? Reduce::Min : Reduce::Max, x, axes, keep));
    return kernels::argReduce(context, x, axis, keep, smallest, false, 1);
}

void defineAtenReduce(Registry& registry) {
    const struct {
        std::string_view schema, summary;
        AtenReduce row;
    } rows[] = {
        {"mean(Tensor self, *, int? dtype=None) -> Tensor", "mean of all elements", {Reduce::Mean, false, true, false}},
        {"mean.dim(Tensor self, int[]? dim, bool keepdim=False, *, int? dtype=None) -> Tensor",
         "mean over axes",
         {Reduce::Mean, true, true, false}},
        {"sum(Tensor self, *, int? dtype=None) -> Tensor", "sum of all elements", {Reduce::Sum, false, false, true}},
        {"sum.dim_IntList(Tensor self, int[]? dim, bool keepdim=False, *, int? dtype=None) -> Tensor",
         "sum over axes",
         {Reduce::Sum, true, false, true}},
        {"prod(Tensor self, *, int? dtype=None) -> Tensor",
         "product of all elements",
         {Reduce::Prod, false, false, true}},
        {"prod.dim_int(Tensor self, int dim, bool keepdim=False, *, int? dtype=None) -> Tensor",
         "product over an axis",
         {Reduce::Prod, true, false, true}},
        {"amax(Tensor self, int[] dim=[], bool keepdim=False) -> Tensor",
         "largest value over axes",
         {Reduce::Max, true, false, false}},
        {"amin(Tensor self, int[] dim=[], bool keepdim=False) -> Tensor",
         "smallest value over axes",
         {Reduce::Min, true, false, false}},
        {"max(Tensor self) -> Tensor", "largest of all elements", {Reduce::Max, false, false, false}},
        {"min(Tensor self) -> Tensor", "smallest of all elements", {Reduce::Min, false, false, false}},
        {"logsumexp(Tensor self, int[] dim, bool keepdim=False) -> Tensor",
         "ln Σ e^x over axes",
         {Reduce::LogSumExp, true, true, false}},
        {"all(Tensor self) -> Tensor", "whether all elements are true", {Reduce::All, false, false, false}},
        {"any(Tensor self) -> Tensor", "whether any element is true", {Reduce::Any, false, false, false}},
        {"all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
         "whether all elements of axes are true",
         {Reduce::All, true, false, false}},
        {"any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor",
         "whether any element of axes is true",
         {Reduce::Any, true, false, false}},
        {"all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
         "whether all elements of an axis are true",
         {Reduce::All, true, false, false}},
        {"any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor",
         "whether any element of an axis is true",
         {Reduce::Any, true, false, false}},
    };
    for (const auto& row : rows) {
        registry.add(atenRow(
            row.schema, row.summary, Category::Reduction,
            [reduce = row.row](KernelContext& context) { return atenReduce(context, reduce); },
            [reduce = row.row](InferContext& context) { return inferAtenReduce(context, reduce); }));
    }
    for (bool smallest : {false, true}) {
        registry.add(atenRow(smallest ? "argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor"
                                      : "argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor",
                             smallest ? "position of the smallest element" : "position of the largest element",
                             Category::Reduction,
                             [smallest](KernelContext& context) { return atenArg(context, smallest); }));
        registry.add(atenRow(smallest ? "min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)"
                                      : "max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor, Tensor)",
                             smallest ? "smallest values along an axis and where they are"
                                      : "largest values along an axis and where they are",
                             Category::Reduction,
                             [smallest](KernelContext& context) { return atenExtreme(context, smallest); }));
    }
}

}  // namespace

void define_reduce(Registry& registry) {
    addOnnx(registry, "ReduceSum", "sum over axes", Reduce::Sum);
    addOnnx(registry, "ReduceMean", "mean over axes", Reduce::Mean);
    addOnnx(registry, "ReduceMax", "largest value over axes", Reduce::Max);
    addOnnx(registry, "ReduceMin", "smallest value over axes", Reduce::Min);
    addOnnx(registry, "ReduceProd", "product over axes", Reduce::Prod);
    addOnnx(registry, "ReduceL1", "sum of absolute values over axes", Reduce::L1);
    addOnnx(registry, "ReduceL2", "root of the sum of squares over axes", Reduce::L2);
    addOnnx(registry, "ReduceLogSum", "logarithm of the sum over axes", Reduce::LogSum);
    addOnnx(registry, "ReduceLogSumExp", "ln Σ e^x over axes", Reduce::LogSumExp);
    addOnnx(registry, "ReduceSumSquare", "sum of squares over axes", Reduce::SumSquare);
    for (bool smallest : {false, true}) {
        registry.add(Row(smallest ? "ArgMin" : "ArgMax", 1,
                         smallest ? "position of the smallest element along an axis"
                                  : "position of the largest element along an axis",
                         Category::Reduction)
                         .in("data", kNumbers)
                         .out("reduced")
                         .attrInt("axis", 0)
                         .attrInt("keepdims", 1)
                         .attrInt("select_last_index", 0)
                         .runs([smallest](KernelContext& context) { return argExtreme(context, smallest); }, inferArg));
    }
    defineAtenReduce(registry);
    explain("", "ReduceSum", dependence::reduced, "sum(x)");
    explain("", "ReduceMean", dependence::reduced, "mean(x)");
    explain("", "ReduceMax", dependence::reduced, "max(x)");
    explain("", "ReduceMin", dependence::reduced, "min(x)");
    explain("", "ReduceProd", dependence::reduced, "prod(x)");
    explain("", "ReduceL1", dependence::reduced, "sum(abs(x))");
    explain("", "ReduceL2", dependence::reduced, "sqrt(sum(x * x))");
    explain("", "ReduceLogSum", dependence::reduced, "log(sum(x))");
    explain("", "ReduceLogSumExp", dependence::reduced, "max(x) + log(sum(exp(x - max(x))))");
    explain("", "ReduceSumSquare", dependence::reduced, "sum(x * x)");
    explain("", "ArgMax", dependence::reduced, "argmax(x)");
    explain("", "ArgMin", dependence::reduced, "argmin(x)");
    explain("aten", "sum", dependence::reduced, "sum(x)");
    explain("aten", "mean", dependence::reduced, "mean(x)");
    explain("aten", "amax max", dependence::reduced, "max(x)");
    explain("aten", "amin min", dependence::reduced, "min(x)");
    explain("aten", "prod", dependence::reduced, "prod(x)");
    explain("aten", "logsumexp", dependence::reduced, "max(x) + log(sum(exp(x - max(x))))");
    explain("aten", "all", dependence::reduced, "all(x)");
    explain("aten", "any", dependence::reduced, "any(x)");
    explain("aten", "argmax", dependence::reduced, "argmax(x)");
    explain("aten", "argmin", dependence::reduced, "argmin(x)");
    explain("aten", "max.dim min.dim", dependence::selected, "dim");
}

}  // namespace sonde::ops
