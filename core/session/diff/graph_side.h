#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/operators/traits.h"

namespace sonde::session::diff {

using Hash = std::uint64_t;

inline Hash mixed(Hash hash, Hash with) {
    // splitmix64 of Vigna: every bit of both counts.
    Hash value = hash * 0x9E3779B97F4A7C15U + with + 0x9E3779B97F4A7C15U;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9U;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBU;
    return value ^ (value >> 31);
}
Hash hashOf(std::string_view text);
/// Of what an operator of a class does, between two vocabularies.
inline Hash labelOf(operators::OpClass opClass) { return 16 + static_cast<Hash>(opClass); }

/// A graph in which called modules and functions are written out: what a body of a call takes is what the call is
/// given, and what the call gives is what its body gives. Bodies of branches and loops stay. With `isPlain` also
/// operations that give what they are given (dropout at inference) are left out, and what computes no tensors (Python's
/// operators).
struct FlatGraph {
    explicit FlatGraph(const graph::InternalGraph& graph, bool isPlain = false);

    const graph::InternalGraph& graph;
    std::vector<graph::ExprId> order;               ///< operations in execution order, calls left out
    std::vector<graph::NodeId> origin;              ///< by node: the value that it is
    std::vector<std::vector<graph::ExprId>> users;  ///< of origins, by node

    graph::ExprId producer(graph::NodeId node) const { return graph.node(origin[node.index()]).producer; }
    std::vector<graph::NodeId> inputsOf(graph::ExprId id) const;
    /// The same with what its bodies give, of a branch or loop.
    std::vector<graph::NodeId> readBy(graph::ExprId id) const;
    std::vector<graph::NodeId> outputs() const;  ///< of the graph
    /// Tensors (or lists with some) among the inputs that are neither stored nor a number.
    std::vector<graph::NodeId> computedInputsOf(graph::ExprId id) const;
    /// y = x·scale + shift with stored numbers: what an exporter folds into the layer in front of it.
    bool isAffine(graph::ExprId id) const;
};

/// One of two graphs that are matched, with the hashes of its operations. All tables are by ExprId.
struct GraphSide : FlatGraph {
    /// `isOneVocabulary`: the other side names operators as this one does; else they are told apart by what they do.
    GraphSide(const graph::InternalGraph& graph, bool isOneVocabulary);

    std::vector<Hash> label;   ///< of the operator
    std::vector<Hash> detail;  ///< of operator, attributes, constants, shapes of weights
    std::vector<Hash> kernel;  ///< of the sizes of a convolution's stored kernel; 0: it is none, or has none
    /// Of everything that leads to it, or from it, by label. Between two vocabularies not what may be folded into a
    /// layer: the bias behind a product, the normalisation behind a convolution.
    std::vector<Hash> up, down;
    std::vector<Hash> upDetail, downDetail;
    /// Of everything around it, whatever the order of inputs and results: parallel branches that do the same have one
    /// place. By label and by detail.
    std::vector<Hash> place, placeDetail;
    std::vector<graph::ExprId> match;  ///< counterpart
    /// Of an operation that is a part of what the other graph has as one, or in other operators: the operation of this
    /// graph that gives the result of all, and has the counterpart.
    std::vector<graph::ExprId> partOf;

    bool hasCounterpart(graph::ExprId id) const { return match[id.index()].valid(); }
    /// Has a counterpart, or is a part of one.
    bool isMatched(graph::ExprId id) const { return hasCounterpart(id) || partOf[id.index()].valid(); }
    /// The stored tensors among the arguments of an operation, in order.
    std::vector<graph::NodeId> weightsOf(graph::ExprId id) const;
    /// Of names of weights, or of their elements; 0: it has none of two elements or more.
    Hash weightNames(graph::ExprId id) const;
    /// Of names of weights that say where they are from, as "encoder.0.weight" does; 0: one of them does not.
    Hash weightPaths(graph::ExprId id) const;
    Hash weightValues(graph::ExprId id) const;
    /// The stored tensors of two elements or more, with a hash of their elements, whatever dimensions of 1 they have
    /// and whether they are transposed. Not those that are filled with one number.
    std::vector<std::pair<graph::NodeId, Hash>> storedElements() const;

  private:
    enum class Positions { Count, Ignored };  ///< of inputs and results

    void hashOperations();
    Hash hashOfKernel(graph::ExprId id) const;
    /// Between two vocabularies those that both have: a convolution may have a bias, a reshape the sizes, or not.
    std::vector<graph::NodeId> hashedInputsOf(graph::ExprId id) const;
    void findFolded();
    std::vector<Hash> upstream(const std::vector<Hash>& own, bool withTypes, Positions positions) const;
    std::vector<Hash> downstream(const std::vector<Hash>& own, Positions positions) const;
    std::vector<Hash> places(const std::vector<Hash>& own, bool withTypes) const;

    bool m_isOneVocabulary;
    std::vector<bool> m_mayBeFolded;  ///< by ExprId
};

/// A convolution or a matrix product.
bool isLayerWithWeights(const graph::Expr& expr);
/// Whether nothing is computed: inputs, stored values, outputs.
bool isValueExpr(const graph::Expr& expr);
/// A called module or function whose inside is in the graph.
bool isCallWithBody(const graph::Expr& expr);
/// Gives elements that it is given, in another order or shape; no branch or loop.
bool onlyMoves(const graph::Expr& expr);
/// What an operator computes, in the words of every vocabulary: gt and Greater are one, all products are, and so are
/// the operators that take parts of a tensor.
Hash functionOf(const FlatGraph& flat, graph::ExprId id);
/// "aten::mul.Tensor", "Mul"; of a call without operator the module's class, or the function.
std::string operatorName(const graph::Expr& expr);

}  // namespace sonde::session::diff
