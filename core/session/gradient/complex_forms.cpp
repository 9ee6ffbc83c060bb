#include "core/session/gradient/complex_forms.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/session/gradient/complex_fourier.h"
#include "core/tensor/complex_pairs.h"

namespace sonde::session::gradient {

using exporting::LoweredCall;
using graph::Argument;
using graph::NodeId;
using tensor::DType;
using tensor::Shape;
using tensor::Tensor;
using tensor::Value;
using Complex = ComplexForm::Complex;
using Parts = ComplexForm::Parts;
using Results = ComplexForm::Results;

namespace {

// ---- what is done with both parts alike

/// One part of values and of what is in lists of them; what has no parts stays as it is.
Value partOfValue(const Value& value, std::int64_t part) {
    if (value.isListLike()) {
        tensor::ValueList items;
        for (const Value& item : value.items()) items.push_back(partOfValue(item, part));
        return value.kind() == tensor::ValueKind::Tuple ? Value::tuple(std::move(items))
                                                        : Value::list(std::move(items));
    }
    if (!holdsComplex(value)) return value;
    const auto packed = tensor::pairsOf(value.tensor()).selected(value.tensor().rank(), part).contiguous();
    if (!packed) LoweredCall::fail(packed.error().what);
    return Value(*packed);
}

/// The imaginary part of real tensors is zero; integers and bools are places and conditions.
Argument partOf(ComplexForm& form, const Argument& argument, bool isImaginary) {
    if (argument.kind == Argument::Kind::List || argument.kind == Argument::Kind::Tuple) {
        Argument made = argument;
        for (Argument& item : made.items) item = partOf(form, item, isImaginary);
        return made;
    }
    if (argument.kind == Argument::Kind::Constant && argument.constant.isListLike())
        return Argument::of(partOfValue(argument.constant, isImaginary ? 1 : 0));
    const bool isTensor = argument.kind == Argument::Kind::Node ||
                          (argument.kind == Argument::Kind::Constant && argument.constant.isTensor());
    if (!isTensor) return argument;
    const NodeId node = form.call().tensorOf(argument);
    if (!tensor::isFloating(form.call().dtypeOf(node))) return argument;
    const Parts parts = form.partsOf(argument);
    if (!isImaginary) return Argument::of(parts.real);
    return Argument::of(parts.imaginary.valid() ? parts.imaginary : form.zerosLike(parts.real));
}

Argument joinedResults(ComplexForm& form, const Argument& real, const Argument& imaginary) {
    if (real.kind == Argument::Kind::Node && imaginary.kind == Argument::Kind::Node)
        return Argument::of(form.joined({real.node, imaginary.node}));
    Argument made = real;
    for (std::size_t i = 0; i < made.items.size() && i < imaginary.items.size(); ++i)
        made.items[i] = joinedResults(form, real.items[i], imaginary.items[i]);
    return made;
}

Results alike(ComplexForm& form) {
    const ComplexCall& given = form.given();
    const exporting::LoweringRule rule = exporting::findLowering(given.name);
    if (!rule) LoweredCall::fail({});
    Results made[2];
    for (const bool isImaginary : {false, true}) {
        std::vector<Argument> arguments;
        for (const Argument& argument : given.arguments) arguments.push_back(partOf(form, argument, isImaginary));
        std::vector<Value> results;
        for (const Value& result : given.results) results.push_back(partOfValue(result, isImaginary ? 1 : 0));
        LoweredCall half(given.graph, given.known, given.expr, std::move(arguments), results, "z");
        made[isImaginary ? 1 : 0] = rule(half);
    }
    for (std::size_t i = 0; i < made[0].size() && i < made[1].size() && i < given.results.size(); ++i)
        if (holdsComplex(given.results[i])) made[0][i] = joinedResults(form, made[0][i], made[1][i]);
    return made[0];
}

const std::set<std::string_view>& linearOperators() {
    // clang-format off
    static const std::set<std::string_view> names{
        "add", "sub", "rsub", "neg", "positive", "sum", "mean", "cumsum", "diff", "trace", "where", "masked_fill", "alias", "clone", "contiguous",
        "detach", "lift_fresh", "resolve_conj", "resolve_neg", "view", "reshape", "flatten", "unflatten", "squeeze", "unsqueeze", "view_as",
        "reshape_as", "_unsafe_view", "ravel", "expand", "expand_as", "broadcast_to", "broadcast_tensors", "repeat", "tile", "repeat_interleave",
        "cat", "concat", "concatenate", "stack", "hstack", "vstack", "dstack", "column_stack", "row_stack", "transpose", "t", "permute",
        "movedim", "moveaxis", "swapaxes", "swapdims", "numpy_T", "mT", "slice", "select", "narrow", "chunk", "unsafe_chunk", "split",
        "split_with_sizes", "tensor_split", "hsplit", "vsplit", "dsplit", "unbind", "flip", "fliplr", "flipud", "roll", "rot90", "unfold",
        "diagonal", "diag_embed", "diag", "index_select", "gather", "index", "getitem", "take", "masked_select", "constant_pad_nd", "pad",
        "reflection_pad1d", "reflection_pad2d", "replication_pad1d", "replication_pad2d", "tril", "triu", "atleast_1d", "atleast_2d",
        "atleast_3d", "as_strided", "setitem", "index_put", "slice_scatter", "select_scatter", "diagonal_scatter", "index_add",
        "scatter_add", "fft_fftshift", "fft_ifftshift"};
    // clang-format on
    return names;
}

// ---- functions of complex numbers, by their derivatives

using Derivative = Complex (*)(Complex z, Complex y);

const std::unordered_map<std::string_view, Derivative>& derivatives() {
    static const std::unordered_map<std::string_view, Derivative> all{
        {"exp", [](Complex, Complex y) { return y; }},
        {"sqrt", [](Complex, Complex y) { return 0.5 / y; }},
        {"square", [](Complex z, Complex) { return 2.0 * z; }},
        {"reciprocal", [](Complex, Complex y) { return -y * y; }},
        {"tanh", [](Complex, Complex y) { return 1.0 - y * y; }}};
    return all;
}

Results tangent(ComplexForm& form, const std::vector<Complex>& slopes) {
    return form.result(form.product("Mul", form.parts(0), form.constants(slopes)));
}

Results holomorphic(ComplexForm& form, Derivative derivative) {
    std::vector<Complex> slopes = form.elements(0);
    const std::vector<Complex> results = ComplexForm::elementsOf(form.given().results.front());
    for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = derivative(slopes[i], results[i]);
    return tangent(form, slopes);
}

/// To a constant power.
Results power(ComplexForm& form) {
    const Argument& exponent = form.given().arguments.at(1);
    const std::vector<Complex> powers = form.elements(1);
    const bool isComputed =
        exponent.kind == Argument::Kind::Node && !form.given().graph.node(exponent.node).constant.has_value();
    if (isComputed || powers.size() != 1) LoweredCall::fail("only constant powers of complex numbers have a rule");
    const Complex p = powers.front();
    std::vector<Complex> slopes = form.elements(0);
    for (Complex& z : slopes) z = p == 0.0 ? 0.0 : p * (p == 1.0 ? 1.0 : std::pow(z, p - 1.0));
    return tangent(form, slopes);
}

// ---- magnitudes and angles: by each part as by a constant factor, which is 0 at zero

Results byParts(ComplexForm& form, Complex (*slope)(Complex z)) {
    std::vector<Complex> slopes = form.elements(0);
    for (Complex& z : slopes) z = z == 0.0 ? 0.0 : slope(z);
    const Parts z = form.parts(0), by = form.constants(slopes);
    return form.result(
        {form.make("Add", {form.make("Mul", {z.real, by.real}), form.make("Mul", {z.imaginary, by.imaginary})}),
         NodeId()});
}
Results magnitude(ComplexForm& form) {
    return byParts(form, [](Complex z) { return z / std::abs(z); });
}
Results angle(ComplexForm& form) {
    return byParts(form, [](Complex z) { return Complex(-z.imag(), z.real()) / std::norm(z); });
}
/// Norms are those of the magnitudes.
Results normOfMagnitudes(ComplexForm& form) {
    const ComplexCall& given = form.given();
    const exporting::LoweringRule rule = exporting::findLowering(given.name);
    if (!rule) LoweredCall::fail({});
    std::vector<Argument> arguments = given.arguments;
    arguments.front() = magnitude(form).front();
    LoweredCall real(given.graph, given.known, given.expr, std::move(arguments), given.results, "z");
    return rule(real);
}

// ---- parts and what is put together of them

Results conjugate(ComplexForm& form) {
    const Parts z = form.parts(0);
    return form.result({z.real, form.make("Neg", {z.imaginary})});
}
NodeId broadcast(ComplexForm& form, NodeId x) {
    const Shape& shape = form.call().result().shape();
    if (form.call().shapeOf(x) == shape) return x;
    return form.make("Expand", {x, form.call().integersNode(shape.dims())});
}
Results complexOfParts(ComplexForm& form) {
    return form.result({broadcast(form, form.parts(0).real), broadcast(form, form.parts(1).real)});
}
Results polar(ComplexForm& form) {
    const NodeId size = form.parts(0).real, turn = form.parts(1).real;
    return form.result(
        {form.make("Mul", {size, form.make("Cos", {turn})}), form.make("Mul", {size, form.make("Sin", {turn})})});
}
/// Another dtype: of a real one the real part.
Results converted(ComplexForm& form) {
    const Value& result = form.given().results.front();
    if (holdsComplex(result)) return form.result(form.parts(0));
    if (!tensor::isFloating(form.call().result().dtype())) LoweredCall::fail({});
    return exporting::one(form.call().cast(form.parts(0).real, form.call().result().dtype()));
}
Results same(ComplexForm& form) { return exporting::one(form.make("Identity", {form.call().tensor(0)})); }

// ---- products

Results multiplied(ComplexForm& form) { return form.result(form.product("Mul", form.parts(0), form.parts(1))); }
Results matrixProduct(ComplexForm& form) { return form.result(form.product("MatMul", form.parts(0), form.parts(1))); }
Results divided(ComplexForm& form) {
    const Parts a = form.parts(0), b = form.parts(1);
    if (!b.imaginary.valid())
        return form.result({form.make("Div", {a.real, b.real}), form.make("Div", {a.imaginary, b.real})});
    const NodeId size =
        form.make("Add", {form.make("Mul", {b.real, b.real}), form.make("Mul", {b.imaginary, b.imaginary})});
    const Parts above = form.product("Mul", a, {b.real, form.make("Neg", {b.imaginary})});
    return form.result({form.make("Div", {above.real, size}), form.make("Div", {above.imaginary, size})});
}
Results einsum(ComplexForm& form) {
    const Argument& operands = form.call().argument(1);
    if (operands.items.size() != 2) LoweredCall::fail("only products of two complex operands have a rule");
    return form.result(form.product("Einsum", form.partsOf(operands.items[0]), form.partsOf(operands.items[1]),
                                    {{"equation", form.call().text(0)}}));
}
Results linear(ComplexForm& form) {
    const auto turned = [&](NodeId x) {
        return x.valid() && form.call().shapeOf(x).rank() == 2 ? form.call().permuted(x, {1, 0}) : x;
    };
    const Parts weight = form.parts(1);
    const Parts made = form.product("MatMul", form.parts(0), {turned(weight.real), turned(weight.imaginary)});
    return form.result(form.call().has(2) ? form.sum(made, form.parts(2)) : made);
}

using Form = Results (*)(ComplexForm&);

const std::unordered_map<std::string_view, Form>& forms() {
    static const std::unordered_map<std::string_view, Form> all{
        {"abs", magnitude},
        {"absolute", magnitude},
        {"angle", angle},
        {"norm", normOfMagnitudes},
        {"linalg_norm", normOfMagnitudes},
        {"linalg_vector_norm", normOfMagnitudes},
        {"real", [](ComplexForm& form) { return exporting::one(form.parts(0).real); }},
        {"imag", [](ComplexForm& form) { return exporting::one(form.parts(0).imaginary); }},
        {"conj", conjugate},
        {"_conj", conjugate},
        {"conj_physical", conjugate},
        {"_conj_physical", conjugate},
        {"complex", complexOfParts},
        {"polar", polar},
        {"view_as_real", same},
        {"view_as_complex", same},
        {"to", converted},
        {"_to_copy", converted},
        {"type_as", converted},
        {"float", converted},
        {"double", converted},
        {"mul", multiplied},
        {"multiply", multiplied},
        {"div", divided},
        {"divide", divided},
        {"true_divide", divided},
        {"pow", power},
        {"matmul", matrixProduct},
        {"mm", matrixProduct},
        {"bmm", matrixProduct},
        {"mv", matrixProduct},
        {"dot", matrixProduct},
        {"linear", linear},
        {"einsum", einsum}};
    return all;
}

}  // namespace

// --- by operator ----------------------------------------------------------------------------------------------------

Results complexForm(const ComplexCall& call) {
    if (call.results.empty()) LoweredCall::fail({});
    ComplexForm form(call);
    if (const auto found = forms().find(call.name); found != forms().end()) return found->second(form);
    if (const auto found = derivatives().find(call.name); found != derivatives().end())
        return holomorphic(form, found->second);
    if (linearOperators().contains(call.name)) return alike(form);
    if (isFourierForm(call.name)) return fourierForm(form, call.name);
    LoweredCall::fail({});
}

bool isComplexForm(std::string_view name) { return isFourierForm(name); }

}  // namespace sonde::session::gradient
