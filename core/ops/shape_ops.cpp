// Operators that only change how elements are arranged in dimensions, and those that ask for the shape.

#include <algorithm>

#include "core/ops/dependence/rules.h"
#include "core/ops/support/row.h"
#include "core/ops/support/shapes.h"

namespace sonde::ops {

namespace {

using tensor::Dim;

base::Result<void> setView(KernelContext& context, base::Result<Tensor> view) {
    if (!view) return std::move(view).error();
    context.setOutput(Value(std::move(*view)));
    return {};
}

/// Dimensions from a request with 0 (keep, unless allowZero) and at most one -1 (whatever is left).
base::Result<Shape> requestedShape(const Tensor& x, std::vector<std::int64_t> request, bool allowZero) {
    std::int64_t known = 1;
    std::optional<std::size_t> open;
    for (std::size_t i = 0; i < request.size(); ++i) {
        if (request[i] == 0 && !allowZero) {
            if (i >= x.rank())
                return opError("dimension 0 of " + Shape(request).text() + " has no dimension of " + x.typeText() +
                               " to keep");
            request[i] = x.dim(i);
        }
        if (request[i] == -1 && !open) {
            open = i;
        } else if (request[i] < 0 || __builtin_mul_overflow(known, request[i], &known)) {
            return opError("cannot reshape " + x.typeText() + " to " + Shape(request).text());
        }
    }
    if (open) {
        if (known == 0 || x.numel() % known != 0)
            return opError("cannot reshape " + x.typeText() + " to " + Shape(request).text());
        request[*open] = x.numel() / known;
    }
    return Shape(std::move(request));
}

base::Result<void> reshapeTo(KernelContext& context, std::vector<std::int64_t> request, bool allowZero) {
    const Tensor& x = context.in({"self", "data"});
    SONDE_ASSIGN(Shape shape, requestedShape(x, std::move(request), allowZero));
    return setView(context, x.reshaped(std::move(shape)));
}

base::Result<void> reshape(KernelContext& context) {
    if (!context.has("shape")) return reshapeTo(context, context.attributes().getInts("shape"), false);
    SONDE_ASSIGN(std::vector<std::int64_t> request, intsOf(context.value("shape")));
    return reshapeTo(context, std::move(request), context.attributes().getInt("allowzero", 0) != 0);
}

/// The open dimension of a reshape: all dimensions of the input over all others of the result. Dimensions that both
/// have cancel out first, so that those that are not known at all do no harm.
Dim quotientOf(Dims in, const Dims& out, std::size_t open) {
    Dims below;
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (i == open) continue;
        const auto same = std::ranges::find(in, out[i]);
        if (same != in.end() && (out[i].known() || !out[i].symbol.empty())) in.erase(same);
        else below.push_back(out[i]);
    }
    if (below.empty() && in.size() == 1) return in[0];
    return floorDiv(tensor::product(in), tensor::product(below)).dim();
}

/// The same on what is known before a run: an open dimension is known if everything else is.
void inferReshapeTo(InferContext& context, const Elements& request, bool allowZero) {
    const std::optional<Dims>& in = context.in({"self", "data"}).shape;
    Dims out;
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < request.size(); ++i) {
        const std::optional<std::int64_t> number = request[i].constant();
        out.push_back(request[i].dim());
        if (number == 0 && !allowZero) out.back() = in && i < in->size() ? (*in)[i] : Dim{};
        else if (number == -1 || !request[i].known()) open.push_back(i);
    }
    // One dimension is whatever is left, also if the request does not say so.
    if (open.size() == 1 && in) out[open[0]] = quotientOf(*in, out, open[0]);
    setLike(context, {"self", "data"}, std::move(out));
}

base::Result<void> inferReshape(InferContext& context) {
    std::optional<Elements> request = Elements{};
    if (context.inputCount() < 2) {
        for (std::int64_t dimSize : context.attributes().getInts("shape"))
            request->push_back(tensor::Symbolic::of(dimSize));
    } else {
        request = context.elements("shape");
    }
    if (request) inferReshapeTo(context, *request, context.attributes().getInt("allowzero", 0) != 0);
    else setLike(context, "data", unknownDimsFrom(context.in("shape")));
    return {};
}

/// [d0·…·d(axis−1), d(axis)·…]
base::Result<void> flatten(KernelContext& context) {
    const Tensor& x = context.in("input");
    const std::int64_t given = context.attributes().getInt("axis", 1);
    std::size_t axis = x.rank();
    if (given != static_cast<std::int64_t>(x.rank())) {
        SONDE_ASSIGN(axis, axisOf(given, x.rank()));
    }
    std::int64_t outer = 1, inner = 1;
    for (std::size_t i = 0; i < x.rank(); ++i) (i < axis ? outer : inner) *= x.dim(i);
    return setView(context, x.reshaped(Shape{outer, inner}));
}

base::Result<void> inferFlatten(InferContext& context) {
    const std::optional<Dims>& in = context.in("input").shape;
    if (!in) {
        setLike(context, "input", unknownDims(2));
        return {};
    }
    const std::int64_t given = context.attributes().getInt("axis", 1);
    std::size_t axis = in->size();
    if (given != static_cast<std::int64_t>(in->size())) {
        SONDE_ASSIGN(axis, axisOf(given, in->size()));
    }
    const auto middle = in->begin() + static_cast<std::ptrdiff_t>(axis);
    setLike(context, "input",
            Dims{tensor::product(Dims(in->begin(), middle)).dim(), tensor::product(Dims(middle, in->end())).dim()});
    return {};
}

/// Axes from an input (since 13) or the attribute; nothing if neither is there.
base::Result<std::optional<std::vector<std::int64_t>>> axesRequest(KernelContext& context) {
    if (context.has("axes")) {
        SONDE_ASSIGN(std::vector<std::int64_t> axes, intsOf(context.value("axes")));
        return std::optional(std::move(axes));
    }
    if (context.attributes().has("axes")) return std::optional(context.attributes().getInts("axes"));
    return std::optional<std::vector<std::int64_t>>();
}

base::Result<std::vector<std::int64_t>> squeezedDims(const Tensor& x,
                                                     const std::optional<std::vector<std::int64_t>>& request,
                                                     bool lenient) {
    std::vector<bool> drop(x.rank(), false);
    if (request) {
        SONDE_ASSIGN(const std::vector<std::size_t> axes, axesOf(*request, x.rank()));
        for (std::size_t axis : axes) {
            if (x.dim(axis) != 1 && !lenient)
                return opError("axis " + std::to_string(axis) + " of " + x.typeText() +
                               " is not 1 and cannot be dropped");
            drop[axis] = x.dim(axis) == 1;
        }
    }
    std::vector<std::int64_t> dims;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (request ? !drop[i] : x.dim(i) != 1) dims.push_back(x.dim(i));
    }
    return dims;
}

base::Result<void> squeeze(KernelContext& context) {
    SONDE_ASSIGN(const auto request, axesRequest(context));
    SONDE_ASSIGN(std::vector<std::int64_t> dims, squeezedDims(context.in("data"), request, false));
    return setView(context, context.in("data").reshaped(Shape(std::move(dims))));
}

/// The request as inference knows it; `known` false if it is an input that is not constant.
std::optional<std::vector<std::int64_t>> axesKnown(InferContext& context, bool& known) {
    known = true;
    if (context.has("axes") && context.inputCount() > 1) {
        const base::Result<std::vector<std::int64_t>> axes = intsOf(context.constant("axes"));
        known = axes.has_value() && !context.constant("axes").isNone();
        return known ? std::optional(*axes) : std::nullopt;
    }
    if (context.attributes().has("axes")) return context.attributes().getInts("axes");
    return std::nullopt;
}

base::Result<void> inferSqueeze(InferContext& context) {
    bool known = false;
    const auto request = axesKnown(context, known);
    const std::optional<Dims>& in = context.in("data").shape;
    if (!known || !in) {
        setLike(context, "data", std::nullopt);
        return {};
    }
    std::vector<std::size_t> axes;
    if (request) {
        SONDE_ASSIGN(axes, axesOf(*request, in->size()));
    }
    Dims dims;
    for (std::size_t i = 0; i < in->size(); ++i) {
        if (!request && !(*in)[i].known()) {
            setLike(context, "data", std::nullopt);  // may or may not be 1
            return {};
        }
        if (request ? std::ranges::find(axes, i) == axes.end() : (*in)[i].value != 1) dims.push_back((*in)[i]);
    }
    setLike(context, "data", std::move(dims));
    return {};
}

/// The result's axes that are new, sorted.
base::Result<std::vector<std::size_t>> newAxes(const std::vector<std::int64_t>& request, std::size_t rank) {
    SONDE_ASSIGN(std::vector<std::size_t> axes, axesOf(request, rank + request.size()));
    std::ranges::sort(axes);
    return axes;
}

base::Result<void> unsqueeze(KernelContext& context) {
    SONDE_ASSIGN(const auto request, axesRequest(context));
    if (!request) return opError("axes are missing");
    const Tensor& x = context.in("data");
    SONDE_ASSIGN(const std::vector<std::size_t> axes, newAxes(*request, x.rank()));
    std::vector<std::int64_t> dims = x.shape().dims();
    for (std::size_t axis : axes) dims.insert(dims.begin() + static_cast<std::ptrdiff_t>(axis), 1);
    return setView(context, x.reshaped(Shape(std::move(dims))));
}

base::Result<void> inferUnsqueeze(InferContext& context) {
    bool known = false;
    const auto request = axesKnown(context, known);
    std::optional<Dims> dims = context.in("data").shape;
    if (!known || !request || !dims) {
        setLike(context, "data", std::nullopt);
        return {};
    }
    SONDE_ASSIGN(const std::vector<std::size_t> axes, newAxes(*request, dims->size()));
    for (std::size_t axis : axes) dims->insert(dims->begin() + static_cast<std::ptrdiff_t>(axis), Dim::of(1));
    setLike(context, "data", std::move(dims));
    return {};
}

/// start and end (since 15) cut the shape as a slice of a list does.
std::pair<std::size_t, std::size_t> shapeRange(const Attributes& attributes, std::size_t rank) {
    const auto clamp = [&](std::int64_t at) {
        const auto r = static_cast<std::int64_t>(rank);
        if (at < 0) at += r;
        return static_cast<std::size_t>(std::clamp<std::int64_t>(at, 0, r));
    };
    const std::size_t start = clamp(attributes.getInt("start", 0));
    const std::size_t end = attributes.has("end") ? clamp(attributes.getInt("end", 0)) : rank;
    return {start, std::max(start, end)};
}

base::Result<void> shapeOf(KernelContext& context) {
    const Tensor& x = context.in("data");
    const auto [start, end] = shapeRange(context.attributes(), x.rank());
    const std::vector<std::int64_t> dims(x.shape().begin() + static_cast<std::ptrdiff_t>(start),
                                         x.shape().begin() + static_cast<std::ptrdiff_t>(end));
    context.setOutput(Value(Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(dims.size())}, dims)));
    return {};
}

base::Result<void> inferShape(InferContext& context) {
    const std::optional<Dims>& in = context.in("data").shape;
    if (!in) {
        context.set(TypeInfo::tensor(DType::Int64, unknownDims(1)));
        return {};
    }
    const auto [start, end] = shapeRange(context.attributes(), in->size());
    context.set(TypeInfo::tensor(DType::Int64, Shape{static_cast<std::int64_t>(end - start)}));
    std::vector<std::int64_t> dims;
    Elements elements;
    for (std::size_t i = start; i < end; ++i) {
        if ((*in)[i].known()) dims.push_back((*in)[i].value);
        elements.push_back(tensor::Symbolic::of((*in)[i]));
    }
    if (dims.size() == elements.size())
        context.setKnown(Value(Tensor::of<std::int64_t>(Shape{static_cast<std::int64_t>(dims.size())}, dims)));
    context.setElements(std::move(elements));
    return {};
}

base::Result<void> inferElementCount(InferContext& context) {
    context.set(TypeInfo::tensor(DType::Int64, Shape{}));
    if (const auto& in = context.in("data").shape) {
        if (const auto count = knownProduct(*in)) context.setKnown(Value(Tensor::scalar<std::int64_t>(*count)));
        context.setElements({tensor::product(*in)});
    }
    return {};
}

base::Result<std::vector<std::size_t>> permutation(const std::vector<std::int64_t>& request, std::size_t rank) {
    std::vector<std::size_t> axes;
    if (request.empty()) {
        for (std::size_t i = rank; i-- > 0;) axes.push_back(i);
        return axes;
    }
    SONDE_ASSIGN(axes, axesOf(request, rank));
    if (axes.size() != rank)
        return opError("a permutation " + Shape(request).text() + " does not match " + std::to_string(rank) +
                       " dimensions");
    return axes;
}

base::Result<void> permuteTo(KernelContext& context, const std::vector<std::int64_t>& request) {
    const Tensor& x = context.in({"self", "data"});
    SONDE_ASSIGN(const std::vector<std::size_t> axes, permutation(request, x.rank()));
    context.setOutput(Value(x.permuted(axes)));
    return {};
}

base::Result<void> inferPermute(InferContext& context, const std::vector<std::int64_t>& request) {
    const std::optional<Dims>& in = context.in({"self", "data"}).shape;
    if (!in) {
        setLike(context, {"self", "data"}, std::nullopt);
        return {};
    }
    SONDE_ASSIGN(const std::vector<std::size_t> axes, permutation(request, in->size()));
    Dims dims;
    for (std::size_t axis : axes) dims.push_back((*in)[axis]);
    setLike(context, {"self", "data"}, std::move(dims));
    return {};
}

// ATen.

base::Result<void> atenFlatten(KernelContext& context) {
    const Tensor& x = context.in("self");
    SONDE_ASSIGN(const std::int64_t start, intOf(context.value("start_dim")));
    SONDE_ASSIGN(const std::int64_t end, intOf(context.value("end_dim")));
    const std::size_t rank = std::max<std::size_t>(x.rank(), 1);
    SONDE_ASSIGN(const std::size_t first, axisOf(start, rank));
    SONDE_ASSIGN(const std::size_t last, axisOf(end, rank));
    if (last < first)
        return opError("flatten from " + std::to_string(start) + " to " + std::to_string(end) + " is empty");
    if (x.rank() == 0) return setView(context, x.reshaped(Shape{1}));
    std::vector<std::int64_t> dims;
    for (std::size_t i = 0; i < x.rank(); ++i) {
        if (i > first && i <= last) dims.back() *= x.dim(i);
        else dims.push_back(x.dim(i));
    }
    return setView(context, x.reshaped(Shape(std::move(dims))));
}

base::Result<void> inferAtenFlatten(InferContext& context) {
    const std::optional<Dims>& in = context.in("self").shape;
    if (!in || context.constant("start_dim").isNone() || context.constant("end_dim").isNone() || in->empty()) {
        setLike(context, "self", std::nullopt);
        return {};
    }
    SONDE_ASSIGN(const std::int64_t start, intOf(context.constant("start_dim")));
    SONDE_ASSIGN(const std::int64_t end, intOf(context.constant("end_dim")));
    SONDE_ASSIGN(const std::size_t first, axisOf(start, in->size()));
    SONDE_ASSIGN(const std::size_t last, axisOf(end, in->size()));
    if (last < first)
        return opError("flatten from " + std::to_string(start) + " to " + std::to_string(end) + " is empty");
    Dims dims(in->begin(), in->begin() + static_cast<std::ptrdiff_t>(first));
    dims.push_back(tensor::product(Dims(in->begin() + static_cast<std::ptrdiff_t>(first),
                                        in->begin() + static_cast<std::ptrdiff_t>(last) + 1))
                       .dim());
    dims.insert(dims.end(), in->begin() + static_cast<std::ptrdiff_t>(last) + 1, in->end());
    setLike(context, "self", std::move(dims));
    return {};
}

base::Result<void> atenView(KernelContext& context) {
    SONDE_ASSIGN(std::vector<std::int64_t> request, intsOf(context.value({"size", "shape"})));
    return reshapeTo(context, std::move(request), true);
}

base::Result<void> inferAtenView(InferContext& context) {
    const std::optional<Elements> request = context.elements({"size", "shape"});
    if (request) inferReshapeTo(context, *request, true);
    else setLike(context, "self", std::nullopt);
    return {};
}

base::Result<void> atenSqueeze(KernelContext& context) {
    std::optional<std::vector<std::int64_t>> request;
    if (context.has("dim")) {
        SONDE_ASSIGN(request, intsOf(context.value("dim")));
    }
    SONDE_ASSIGN(std::vector<std::int64_t> dims, squeezedDims(context.in("self"), request, true));
    return setView(context, context.in("self").reshaped(Shape(std::move(dims))));
}

/// Only dimensions of 1 are dropped: of one that is not known, the rank is not known either.
base::Result<void> inferAtenSqueeze(InferContext& context) {
    const auto& from = context.in("self").shape;
    const bool dropsAll = context.inputCount() < 2;
    std::optional<Elements> request = dropsAll ? std::optional(Elements{}) : context.elements("dim");
    setLike(context, "self", std::nullopt);
    if (!from || !request) return {};
    std::vector<bool> drops(from->size(), dropsAll);
    for (const tensor::Symbolic& number : *request) {
        if (!number.constant()) return {};
        if (from->empty()) continue;
        SONDE_ASSIGN(const std::size_t axis, axisOf(*number.constant(), from->size()));
        drops[axis] = true;
    }
    Dims dims;
    for (std::size_t i = 0; i < from->size(); ++i) {
        if (drops[i] && !(*from)[i].known()) return {};
        if (!drops[i] || (*from)[i].value != 1) dims.push_back((*from)[i]);
    }
    setLike(context, "self", std::move(dims));
    return {};
}

base::Result<void> atenUnsqueeze(KernelContext& context) {
    SONDE_ASSIGN(const std::int64_t axis, intOf(context.value("dim")));
    const Tensor& x = context.in("self");
    SONDE_ASSIGN(const std::size_t at, axisOf(axis, x.rank() + 1));
    context.setOutput(Value(x.unsqueezed(at)));
    return {};
}

base::Result<void> atenTranspose(KernelContext& context) {
    SONDE_ASSIGN(const std::int64_t a, intOf(context.value("dim0")));
    SONDE_ASSIGN(const std::int64_t b, intOf(context.value("dim1")));
    const Tensor& x = context.in("self");
    if (x.rank() == 0) {
        context.setOutput(Value(x));
        return {};
    }
    SONDE_ASSIGN(const std::size_t first, axisOf(a, x.rank()));
    SONDE_ASSIGN(const std::size_t second, axisOf(b, x.rank()));
    context.setOutput(Value(x.transposed(first, second)));
    return {};
}

void defineAtenShape(Registry& registry) {
    const auto strided = [](OpDef def) {
        def.acceptsStrided = true;
        return def;
    };
    registry.add(atenRow("flatten.using_ints(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor",
                         "merges neighbouring dimensions into one", Category::Shape, atenFlatten, inferAtenFlatten));
    for (std::string_view schema :
         {"view(Tensor self, int[] size) -> Tensor", "reshape(Tensor self, int[] shape) -> Tensor",
          "_unsafe_view(Tensor self, int[] size) -> Tensor"}) {
        registry.add(
            atenRow(schema, "the same elements in other dimensions", Category::Shape, atenView, inferAtenView));
    }
    for (std::string_view schema : {"squeeze(Tensor self) -> Tensor", "squeeze.dim(Tensor self, int dim) -> Tensor",
                                    "squeeze.dims(Tensor self, int[] dim) -> Tensor"}) {
        registry.add(atenRow(schema, "drops dimensions of size 1", Category::Shape, atenSqueeze, inferAtenSqueeze));
    }
    registry.add(strided(atenRow("unsqueeze(Tensor self, int dim) -> Tensor", "adds a dimension of size 1",
                                 Category::Shape, atenUnsqueeze, [](InferContext& context) -> base::Result<void> {
                                     std::optional<Dims> dims = context.in("self").shape;
                                     if (dims && !context.constant("dim").isNone()) {
                                         SONDE_ASSIGN(const std::int64_t axis, intOf(context.constant("dim")));
                                         SONDE_ASSIGN(const std::size_t at, axisOf(axis, dims->size() + 1));
                                         dims->insert(dims->begin() + static_cast<std::ptrdiff_t>(at), Dim::of(1));
                                         setLike(context, "self", std::move(dims));
                                     } else {
                                         setLike(context, "self", std::nullopt);
                                     }
                                     return {};
                                 })));
    registry.add(strided(atenRow("transpose.int(Tensor self, int dim0, int dim1) -> Tensor", "swaps two dimensions",
                                 Category::Transform, atenTranspose, [](InferContext& context) -> base::Result<void> {
                                     std::optional<Dims> dims = context.in("self").shape;
                                     if (dims && !dims->empty() && !context.constant("dim0").isNone() &&
                                         !context.constant("dim1").isNone()) {
                                         SONDE_ASSIGN(const std::int64_t a, intOf(context.constant("dim0")));
                                         SONDE_ASSIGN(const std::int64_t b, intOf(context.constant("dim1")));
                                         SONDE_ASSIGN(const std::size_t first, axisOf(a, dims->size()));
                                         SONDE_ASSIGN(const std::size_t second, axisOf(b, dims->size()));
                                         std::swap((*dims)[first], (*dims)[second]);
                                     } else if (dims && !dims->empty()) {
                                         dims = unknownDims(dims->size());
                                     }
                                     setLike(context, "self", std::move(dims));
                                     return {};
                                 })));
    registry.add(strided(atenRow(
        "permute(Tensor self, int[] dims) -> Tensor", "reorders the dimensions", Category::Transform,
        [](KernelContext& context) -> base::Result<void> {
            SONDE_ASSIGN(const std::vector<std::int64_t> request, intsOf(context.value("dims")));
            return permuteTo(context, request);
        },
        [](InferContext& context) -> base::Result<void> {
            const auto request = intsOf(context.constant("dims"));
            if (!request || context.constant("dims").isNone()) return opError("the order of dimensions is unknown");
            return inferPermute(context, *request);
        })));
    registry.add(strided(atenRow(
        "t(Tensor self) -> Tensor", "transpose of a matrix", Category::Transform,
        [](KernelContext& context) -> base::Result<void> {
            if (context.in("self").rank() > 2)
                return opError("t needs a matrix, but has " + context.in("self").typeText());
            return permuteTo(context, {});
        },
        [](InferContext& context) { return inferPermute(context, {}); })));
}

}  // namespace

void define_shape_ops(Registry& registry) {
    registry.add(Row("Reshape", 1, "the same elements in other dimensions", Category::Shape)
                     .in("data")
                     .out("reshaped")
                     .attrInts("shape")
                     .runs(reshape, inferReshape));
    registry.add(Row("Reshape", 5, "the same elements in other dimensions", Category::Shape)
                     .in("data")
                     .in("shape", kInt64)
                     .out("reshaped")
                     .attrInt("allowzero", 0)
                     .runs(reshape, inferReshape));
    registry.add(Row("Flatten", 1, "a matrix: dimensions before and from `axis` on are merged", Category::Shape)
                     .in("input")
                     .out("output")
                     .attrInt("axis", 1)
                     .runs(flatten, inferFlatten));
    registry.add(Row("Squeeze", 1, "drops dimensions of size 1", Category::Shape)
                     .in("data")
                     .out("squeezed")
                     .attrInts("axes")
                     .runs(squeeze, inferSqueeze));
    registry.add(Row("Squeeze", 13, "drops dimensions of size 1", Category::Shape)
                     .in("data")
                     .optionalIn("axes", kInt64)
                     .out("squeezed")
                     .runs(squeeze, inferSqueeze));
    registry.add(Row("Unsqueeze", 1, "adds dimensions of size 1", Category::Shape)
                     .in("data")
                     .out("expanded")
                     .required("axes", AttributeKind::Ints)
                     .runs(unsqueeze, inferUnsqueeze));
    registry.add(Row("Unsqueeze", 13, "adds dimensions of size 1", Category::Shape)
                     .in("data")
                     .in("axes", kInt64)
                     .out("expanded")
                     .runs(unsqueeze, inferUnsqueeze));
    registry.add(Row("Shape", 1, "the dimensions as integers", Category::Shape)
                     .in("data")
                     .out("shape")
                     .attr("end", AttributeKind::Int)
                     .attrInt("start", 0)
                     .strided()
                     .runs(shapeOf, inferShape));
    registry.add(Row("Size", 1, "the number of elements", Category::Shape)
                     .in("data")
                     .out("size")
                     .strided()
                     .runs(
                         [](KernelContext& context) -> base::Result<void> {
                             context.setOutput(Value(Tensor::scalar<std::int64_t>(context.in("data").numel())));
                             return {};
                         },
                         inferElementCount));
    registry.add(
        Row("Transpose", 1, "reorders the dimensions", Category::Transform)
            .in("data")
            .out("transposed")
            .attrInts("perm")
            .strided()
            .runs([](KernelContext& context) { return permuteTo(context, context.attributes().getInts("perm")); },
                  [](InferContext& context) { return inferPermute(context, context.attributes().getInts("perm")); }));
    defineAtenShape(registry);
    explain("", "Shape Size", dependence::fixed);
}

}  // namespace sonde::ops
