#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/graph/traits.h"
#include "core/passes/rewrite.h"

namespace sonde::passes {

/// What an operation means, whichever vocabulary it is written in.
using OpClass = operators::OpClass;
using graph::traitsOf;
using operators::OpClass;
using operators::Trait;
using operators::ViewForm;

/// The vocabulary that an expr is written in, for exprs made in its place.
enum class Family : std::uint8_t { Onnx, Aten, Prim };

OpClass opClassOf(const Expr& expr);
Family familyOf(const Expr& expr);
/// Operator without its overload: "add_" of "add_.Tensor".
std::string_view baseName(const Expr& expr);
/// Changes a tensor: `add_`, `copy_`, setitem, `out=`; or the shape of one: `unsqueeze_` (core/graph/memory.h).
bool mutates(const Expr& expr);
/// The result may be a view of the arguments' memory (slices, selections and reshapes; lists of views).
bool makesView(const Expr& expr);

/// Something in the bodies of the expr may be seen outside of it although nobody reads its result: a write, a check, a
/// call that runs on values.
bool holdsEffect(const InternalGraph& graph, const Expr& expr);

/// An argument by position, or by its keyword; null if it is not given.
const Argument* argumentOf(const Expr& expr, std::size_t index, std::string_view keyword = {});
/// The value of an argument that is known before a run: a constant, or a node that holds one. Null if there is none.
const Value* constantOf(const InternalGraph& graph, const Argument* argument);
/// A number, or a floating point or integer tensor of shape () or (1,), as a double.
std::optional<double> scalarOf(const InternalGraph& graph, const Argument* argument);
/// An int constant; none if it is not known.
std::optional<std::int64_t> intOf(const InternalGraph& graph, const Argument* argument);
bool boolOf(const InternalGraph& graph, const Argument* argument, bool fallback);
/// A tensor constant with its node.
struct KnownTensor {
    NodeId node;
    Tensor tensor;
};
std::optional<KnownTensor> tensorOf(const InternalGraph& graph, const Argument* argument);

/// An operation as it stands in the graph: the expr itself, or a call of a leaf module whose body is just that
/// operation.
struct Step {
    ExprId outer;  ///< what stands in the caller's body
    ExprId inner;  ///< the operation: `outer` itself, or the one expr of its body
    OpClass opClass = OpClass::Other;
    /// The node in the caller's body for a node that the operation reads; invalid for what exists only inside.
    NodeId outside(const InternalGraph& graph, NodeId node) const;
};
/// Looks through leaf modules. OpClass::Other if the body holds more than one operation. Checks of shapes beside it,
/// which raise or do nothing, do not count; they go with a call that a pass replaces.
Step stepOf(const InternalGraph& graph, ExprId id);

/// Both operands are given, one is a scalar constant: the operation as (node, scalar).
struct ScalarOperation {
    NodeId node;
    double scalar = 0;
    bool scalarFirst = false;
    bool wholeNumber = false;  ///< the scalar is an int
    bool isTensor = false;     ///< the scalar is a tensor of its own dtype and shape
};
std::optional<ScalarOperation> scalarOperation(const InternalGraph& graph, const Expr& expr);

/// An Add, Mul, Neg or Pow of `node` (and `operand`) in the vocabulary of `like`; the expr has no place yet.
Expr makeArithmetic(const Expr& like, OpClass opClass, NodeId node, std::optional<Argument> operand);
/// A scalar as an operand in the vocabulary of `like`: a constant node in front of `anchor` for ONNX, else a number.
Argument scalarOperand(Rewrite& rewrite, ExprId anchor, double scalar, bool wholeNumber, tensor::DType dtype,
                       std::string why);

/// The dtype of a node if it is known; a node of the program's own type table.
tensor::DType dtypeOf(const InternalGraph& graph, NodeId node);
/// Known to be an integer, a bool, or no tensor at all.
bool isKnownInteger(const InternalGraph& graph, NodeId node);

}  // namespace sonde::passes
