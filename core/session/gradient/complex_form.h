#pragma once

#include <complex>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "core/export/lowering/lowering.h"

namespace sonde::session::gradient {

/// Whether it is a complex tensor, or one is in a list of it.
bool holdsComplex(const tensor::Value& value);

/// An operation on complex numbers, or one that gives some, in a graph of real ones. In there a complex tensor is a
/// node of its pairs (tensor::pairsOf), of arguments and results alike.
struct ComplexCall {
    graph::InternalGraph& graph;
    exporting::Known& known;
    const graph::Expr& expr;
    std::string_view name;                    ///< of the operator, without its overload
    std::vector<graph::Argument> arguments;   ///< by position of the schema
    std::vector<tensor::Value> values;        ///< theirs; none where there is no single one
    std::span<const tensor::Value> results;   ///< what the operation gave, complex
    std::unordered_set<graph::NodeId> pairs;  ///< which nodes are complex
};

/// The means that forms of complex operations are written with.
class ComplexForm {
  public:
    using NodeId = graph::NodeId;
    using Results = std::vector<graph::Argument>;
    using Complex = std::complex<double>;
    /// A tensor's real and imaginary part; of a real one without the latter.
    struct Parts {
        NodeId real, imaginary;
    };

    explicit ComplexForm(const ComplexCall& call);

    const ComplexCall& given() const { return m_given; }
    /// To write real operators with.
    exporting::LoweredCall& call() { return m_call; }
    /// float32 or float64, as the parts are.
    tensor::DType dtype() const { return m_dtype; }
    bool isPair(std::size_t argument) const;
    Parts parts(std::size_t argument) { return partsOf(m_call.argument(argument)); }
    Parts partsOf(const graph::Argument& argument);
    /// An argument's pairs, of a real one with zeros.
    NodeId pairs(std::size_t argument);
    NodeId joined(const Parts& parts);
    /// What stands for the first result: its pairs, or the real part if that is real.
    Results result(const Parts& parts);

    NodeId make(const char* op, const std::vector<NodeId>& inputs, tensor::Attributes attributes = {}) {
        return m_call.make(op, inputs, std::move(attributes));
    }
    NodeId zerosLike(NodeId real);
    NodeId real(double value) { return m_call.scalar(value, m_dtype); }
    /// A bilinear operator on numbers of both kinds.
    Parts product(const char* op, const Parts& a, const Parts& b, const tensor::Attributes& attributes = {});
    Parts sum(const Parts& a, const Parts& b);

    /// Of a tensor; of a number one.
    static std::vector<Complex> elementsOf(const tensor::Value& value);
    /// An argument's elements.
    std::vector<Complex> elements(std::size_t argument) const;
    /// Numbers for each element of the first argument, as constants.
    Parts constants(const std::vector<Complex>& numbers);

  private:
    const ComplexCall& m_given;
    exporting::LoweredCall m_call;
    tensor::DType m_dtype;
};

}  // namespace sonde::session::gradient
