#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/exec/recording.h"
#include "core/graph/module_tree.h"

namespace sonde::analysis {

/// Why a query cannot be understood, and which of its characters (bytes of UTF-8) are meant.
struct QueryProblem {
    std::string what;  ///< one sentence without a full stop
    std::string hint;
    std::size_t at = 0;
    std::size_t length = 0;

    /// A Usage error whose `where` says the place.
    base::Error error() const;
};

/// What is known besides the graph. Everything may be left out: what then is asked for holds of no node.
struct QueryFacts {
    const exec::Recording* recording = nullptr;                     ///< `time`, `is:reached`
    std::function<const tensor::Value*(graph::NodeId)> value = {};  ///< `nan`, `min`, …, shapes as they were
    std::function<bool(graph::NodeId)> watched = {};                ///< `is:watched`
    const graph::ModuleTree* modules = nullptr;                     ///< `parameters`: what the model itself registers
};

struct QueryTerm;

/// A condition on nodes.
///
///     query      = any ("or" any)*          any = one (["and"] one)*        one = ["not"] (term | "(" query ")")
///     term       = WORD | "WORDS" | /REGEX/ | #NUMBER | FIELD:PATTERN | FIELD COMPARISON NUMBER
///                | value:(EXPRESSION) | RELATION:(term | "(" query ")")
///     FIELD      = name op module qualname class attr dtype shape category kind domain source is
///                | readers inputs elements bytes parameters time rank nan inf zeros min max mean std
///     RELATION   = inputs-of outputs-of near upstream-of downstream-of;  near:2:TERM goes two edges up and two down
///     COMPARISON = = != < <= > >=
///
/// A PATTERN with '*' or '?' must fit the whole text, others must be part of it; upper and lower case are alike.
/// FIELD=TEXT wants the whole text. A WORD is looked for in name, qualname, operator, class and file name.
/// `shape:[*,64,...]` compares dimensions (number, symbol, '*', comparison such as >64, '...' for any number of them);
/// `shape:64` finds any tensor with such a dimension. `attr:kernel_shape=3` finds attributes by name and value; of a
/// list one element suffices. An EXPRESSION is one of core/expression: `x` is the node's value, and the numeric fields
/// are names, too: value:(max(abs(x)) > 1e4 and zeros < 0.5). Where it cannot be computed it holds of no node.
class Query {
  public:
    /// Sets `problem` and returns nothing if the text is not a query. Nesting and length are bounded.
    static std::optional<Query> parse(std::string_view text, QueryProblem* problem = nullptr);

    bool empty() const { return m_root == nullptr; }
    /// True if it asks for weights or constants by name, number or kind: else they are only found if nothing else is.
    bool asksForConstants() const;

    /// The nodes that fit, in the order of the program (inner bodies after their owner). Linear in the graph for each
    /// term.
    std::vector<graph::NodeId> run(const graph::InternalGraph& graph, const QueryFacts& facts = {}) const;

  private:
    std::shared_ptr<const QueryTerm> m_root;  ///< none: an empty query, which finds nothing
};

/// Names of the fields and relations, for completion and help.
std::vector<std::string_view> queryFields();
std::vector<std::string_view> queryRelations();

}  // namespace sonde::analysis
