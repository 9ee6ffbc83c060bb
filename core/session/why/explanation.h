#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/progress.h"
#include "core/graph/internal_graph.h"
#include "core/ops/dependence/dependence.h"
#include "core/session/why/reader.h"

/// "Why this value": what an element of a node's value is made of, one hop back.
namespace sonde::session::why {

/// One element that takes part, and where it is.
struct Term {
    /// Without a valid node: a number among the arguments, or one inside of the operator, whose index is its unit's.
    Place place;
    double weight = 1;
    double value = 0;
    std::string part;                                 ///< its name in the formula
    std::optional<Place> weightPlace = std::nullopt;  ///< where the weight is an element of a node itself

    double contribution() const { return weight == 0 && !weightPlace ? 0 : weight * value; }
};

/// weight * value; 0 where the weight is 0 by itself, however large the value is.
inline double contributionOf(const ops::DependenceTerm& term) {
    return term.weight == 0 && term.weightInput == ops::kNoOperand ? 0 : term.weight * term.value;
}

/// What an element is made of.
struct Explanation {
    Place place;  ///< with indices from 0 on
    std::string operatorName;
    double value = 0;
    /// An expression (core/expression) whose value is the element: "sum(w * x) + bias". Empty: nothing computes it, or
    /// the operator does not declare it; `note` tells.
    std::string formula;
    std::string withNumbers;           ///< the formula with the present numbers
    std::optional<double> recombined;  ///< what the formula gives
    std::vector<Term> terms;           ///< by the magnitude of weight * value (of both of a pair), the largest first
    std::size_t termCount = 0;         ///< of all
    double restSum = 0;                ///< of weight * value of those beyond `terms`
    std::string note;
    std::vector<graph::NodeId> inputs;         ///< of the operation, each once
    std::vector<std::int64_t> iteration = {};  ///< of the loops that the element is in, outermost first
    bool isEdited = false;                     ///< an edit gave the element another value than the formula does

    std::size_t restCount() const { return termCount - terms.size(); }
    /// |weight * value| of all terms at their places in the value of a node (of a member of it), 0 elsewhere: float32
    /// with the value's shape. Error: no term is there, or it is too large.
    base::Result<tensor::Tensor> contributions(graph::NodeId node, std::optional<std::size_t> member = {}) const;
    /// The nodes that have terms.
    std::vector<graph::NodeId> sources() const;

    /// All terms as the operator gives them, for contributions().
    struct All {
        ops::Dependence dependence;
        std::vector<Place> operands;        ///< by term, without index
        std::vector<tensor::Shape> shapes;  ///< of what each term is an element of
    };
    std::shared_ptr<const All> all;
};

struct Options {
    std::size_t terms = 16;  ///< that are listed; the others are one sum
};

/// Explains an element. Errors (Usage): the index does not fit the value, the value is not known or no tensor; what the
/// reader says. An operator without a rule is no error: see Explanation::note.
base::Result<Explanation> explain(const graph::InternalGraph& graph, const Place& place, Reader& reader,
                                  const Options& options = {}, const base::WorkContext& work = {});

/// The operation that computes a node, with its values: what rules are asked about.
struct Operation {
    graph::NodeId source;  ///< the node itself, or the one in a called module that it is
    const graph::Expr* expr = nullptr;
    const ops::OpDef* op = nullptr;                 ///< null: none that has rules
    std::vector<const graph::Argument*> arguments;  ///< by position in the call; null: the default
    std::vector<tensor::Value> inputs, outputs;
    std::size_t output = 0;
    bool isUnpacked = false;  ///< the node is a tuple of the operator's outputs: a member of it is an output
};
base::Result<Operation> operationOf(const graph::InternalGraph& graph, graph::NodeId node, Reader& reader);
/// Whether the output that is asked for has a value: one that nobody reads is computed, and all others of `outputs`.
bool knowsOutput(const ops::DependenceQuestion& question, std::vector<tensor::Value>& outputs,
                 ops::RunEnvironment& environment);
/// The node of a body of control flow that a result comes from: the one with the same value; none is invalid.
graph::NodeId insideOf(const graph::InternalGraph& graph, const graph::Expr& expr, const tensor::Value& value,
                       Reader& reader);
/// The node, and member of its value, that an argument's element comes from; without a valid node: a constant.
Place placeOf(const graph::Argument& argument, std::size_t member);
/// What a member of a value is that a called module gives as a list, or that the model does; an invalid node: it is not
/// such a value.
Place memberPlace(const graph::InternalGraph& graph, const graph::Expr& expr, std::optional<std::size_t> member);
/// Expressions in the order in which their results are known: those in bodies before what has the bodies.
std::vector<graph::ExprId> resultOrder(const graph::InternalGraph& graph);

}  // namespace sonde::session::why
