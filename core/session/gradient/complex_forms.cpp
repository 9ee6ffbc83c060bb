#include "core/session/gradient/complex_forms.h"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "core/session/gradient/complex_form.h"

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

bool isComplexValue(const Value& value) {
    if (value.isTensor()) return tensor::isComplex(value.tensor().dtype());
    return value.isListLike() && std::ranges::any_of(value.items(), isComplexValue);
}

Tensor elementsOf(const Value& value) {
    const auto wide = value.isTensor()   ? value.tensor().cast(DType::Complex128)
                      : value.isNumber() ? base::Result<Tensor>(Tensor::scalar<Complex>(value.number()))
                                         : base::Result<Tensor>(base::runError("it is no tensor"));
    const auto packed = wide ? wide->contiguous() : wide;
    if (!packed) LoweredCall::fail(packed.error().what);
    return *packed;
}

// ---- what is done with both parts alike

/// One part of values and of what is in lists of them; what has no parts stays as it is.
Value partOfValue(const Value& value, std::int64_t part) {
    if (value.isListLike()) {
        tensor::ValueList items;
        for (const Value& item : value.items()) items.push_back(partOfValue(item, part));
        return value.kind() == tensor::ValueKind::Tuple ? Value::tuple(std::move(items))
                                                        : Value::list(std::move(items));
    }
    if (!isComplexValue(value)) return value;
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
        LoweredCall half(given.graph, given.constants, given.expr, std::move(arguments), results, "z");
        made[isImaginary ? 1 : 0] = rule(half);
    }
    for (std::size_t i = 0; i < made[0].size() && i < made[1].size() && i < given.results.size(); ++i)
        if (isComplexValue(given.results[i])) made[0][i] = joinedResults(form, made[0][i], made[1][i]);
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
    const Tensor results = elementsOf(form.given().results.front());
    for (std::size_t i = 0; i < slopes.size(); ++i) slopes[i] = derivative(slopes[i], results.span<Complex>()[i]);
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
    LoweredCall real(given.graph, given.constants, given.expr, std::move(arguments), given.results, "z");
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
    if (isComplexValue(result)) return form.result(form.parts(0));
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

// --- what forms are written with ------------------------------------------------------------------------------------

ComplexForm::ComplexForm(const ComplexCall& call)
    : m_given(call), m_call(call.graph, call.constants, call.expr, call.arguments, call.results, "z"),
      m_dtype(DType::Float32) {
    const auto isWide = [](const Value& value) {
        return value.isTensor() &&
               (value.tensor().dtype() == DType::Float64 || value.tensor().dtype() == DType::Complex128);
    };
    if (std::ranges::any_of(call.results, isWide) || (call.results.empty() && std::ranges::any_of(call.values, isWide)))
        m_dtype = DType::Float64;
}

bool ComplexForm::isPair(std::size_t argument) const {
    const auto& arguments = m_given.arguments;
    return argument < arguments.size() && arguments[argument].kind == Argument::Kind::Node &&
           m_given.pairs.contains(arguments[argument].node);
}

Parts ComplexForm::partsOf(const Argument& argument) {
    const NodeId node = m_call.tensorOf(argument, m_dtype);
    if (!m_given.pairs.contains(node)) return {m_call.cast(node, m_dtype), NodeId()};
    const auto part = [&](std::int64_t index) {
        return m_call.cast(m_call.make("Gather", {node, m_call.constant(Tensor::scalar<std::int64_t>(index))},
                                       {{"axis", std::int64_t{-1}}}),
                           m_dtype);
    };
    return {part(0), part(1)};
}

NodeId ComplexForm::zerosLike(NodeId real) {
    const auto zeros = Tensor::zeros(m_call.dtypeOf(real), m_call.shapeOf(real));
    if (!zeros) LoweredCall::fail(zeros.error().what);
    return m_call.constant(*zeros);
}

NodeId ComplexForm::pairs(std::size_t argument) {
    return isPair(argument) ? m_call.cast(m_call.tensor(argument), m_dtype) : joined(parts(argument));
}

NodeId ComplexForm::joined(const Parts& parts) {
    const NodeId imaginary = parts.imaginary.valid() ? parts.imaginary : zerosLike(parts.real);
    const auto column = [&](NodeId x) { return make("Unsqueeze", {x, m_call.integersNode({-1})}); };
    return make("Concat", {column(parts.real), column(imaginary)}, {{"axis", std::int64_t{-1}}});
}

Results ComplexForm::result(const Parts& parts) {
    return exporting::one(isComplexValue(m_given.results.front()) ? joined(parts) : parts.real);
}

Parts ComplexForm::product(const char* op, const Parts& a, const Parts& b, const tensor::Attributes& attributes) {
    const auto times = [&](NodeId left, NodeId right) {
        return left.valid() && right.valid() ? make(op, {left, right}, attributes) : NodeId();
    };
    const auto with = [&](const char* how, NodeId left, NodeId right) {
        return !right.valid() ? left : !left.valid() ? right : make(how, {left, right});
    };
    return {with("Sub", times(a.real, b.real), times(a.imaginary, b.imaginary)),
            with("Add", times(a.real, b.imaginary), times(a.imaginary, b.real))};
}

Parts ComplexForm::sum(const Parts& a, const Parts& b) {
    const NodeId imaginary = !a.imaginary.valid()   ? b.imaginary
                             : !b.imaginary.valid() ? a.imaginary
                                                    : make("Add", {a.imaginary, b.imaginary});
    return {make("Add", {a.real, b.real}), imaginary};
}

std::vector<Complex> ComplexForm::elements(std::size_t argument) const {
    if (argument >= m_given.values.size()) LoweredCall::fail("argument " + std::to_string(argument) + " is missing");
    const Tensor all = elementsOf(m_given.values[argument]);
    return {all.span<Complex>().begin(), all.span<Complex>().end()};
}

Parts ComplexForm::constants(const std::vector<Complex>& numbers) {
    const Shape& shape = m_given.values.front().tensor().shape();
    std::vector<double> real, imaginary;
    for (const Complex& number : numbers) real.push_back(number.real()), imaginary.push_back(number.imag());
    const auto constant = [&](const std::vector<double>& values) {
        return m_call.cast(m_call.constant(Tensor::of<double>(shape, values)), m_dtype);
    };
    return {constant(real), constant(imaginary)};
}

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
