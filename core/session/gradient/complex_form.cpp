#include "core/session/gradient/complex_form.h"

#include <algorithm>

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

bool holdsComplex(const Value& value) {
    if (value.isTensor()) return tensor::isComplex(value.tensor().dtype());
    return value.isListLike() && std::ranges::any_of(value.items(), holdsComplex);
}

ComplexForm::ComplexForm(const ComplexCall& call)
    : m_given(call), m_call(call.graph, call.known, call.expr, call.arguments, call.results, "z"),
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
    return exporting::one(holdsComplex(m_given.results.front()) ? joined(parts) : parts.real);
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
    return elementsOf(m_given.values[argument]);
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

std::vector<Complex> ComplexForm::elementsOf(const Value& value) {
    const auto wide = value.isTensor()   ? value.tensor().cast(DType::Complex128)
                      : value.isNumber() ? base::Result<Tensor>(Tensor::scalar<Complex>(value.number()))
                                         : base::Result<Tensor>(base::runError("it is no tensor"));
    const auto packed = wide ? wide->contiguous() : wide;
    if (!packed) LoweredCall::fail(packed.error().what);
    return {packed->span<Complex>().begin(), packed->span<Complex>().end()};
}

}  // namespace sonde::session::gradient
