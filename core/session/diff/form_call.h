#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "core/graph/internal_graph.h"
#include "core/session/diff/canonical_terms.h"

namespace sonde::session::diff {

/// One operation of ONNX that is to be written as a term, with what is known of what it reads.
class FormCall {
  public:
    using TermOf = std::function<TermId(graph::NodeId)>;
    using ValueOf = std::function<const tensor::Value*(graph::NodeId)>;  ///< null: not known before a run
    using StoredTerm = std::function<TermId(const tensor::Value&)>;      ///< of what a file stores, or might

    FormCall(CanonicalTerms& ofAll, const graph::InternalGraph& graph, const graph::Expr& expr, std::size_t output,
             const TermOf& termOf, const ValueOf& valueOf, const StoredTerm& storedTerm)
        : terms(ofAll), m_graph(graph), m_expr(expr), m_output(output), m_termOf(termOf), m_valueOf(valueOf),
          m_storedTerm(storedTerm) {}

    const graph::Expr& expr() const { return m_expr; }
    std::size_t output() const { return m_output; }  ///< which of the results is meant
    int version() const { return m_expr.op.version; }
    const graph::Attributes& attributes() const { return m_expr.attributes; }

    bool has(std::size_t position) const;
    TermId in(std::size_t position) const;
    TermId transposedMatrix(std::size_t position) const;
    /// As in(); what is filled with one number is that number where it does not make the result larger than `other`.
    TermId operand(std::size_t position, std::size_t other) const;
    const tensor::TypeInfo& type(std::size_t position) const;
    const tensor::TypeInfo& resultType() const { return m_graph.node(m_expr.outputs[m_output]).type; }
    std::optional<std::size_t> rank(std::size_t position) const;
    std::optional<std::int64_t> dim(std::size_t position, std::size_t axis) const;
    /// Of the dimensions; nothing if one is neither known nor named.
    static std::optional<CanonicalTerms::Sizes> sizes(const tensor::TypeInfo& type);

    const tensor::Value* known(std::size_t position) const;
    /// Of a tensor that is filled with one floating point number.
    std::optional<double> filled(std::size_t position) const;
    std::optional<std::vector<std::int64_t>> integers(std::size_t position) const;
    std::optional<std::vector<double>> numbers(std::size_t position) const;
    /// The axes of an attribute, or of the input at `position`, from the front and sorted; all if there are none;
    /// nothing: not known.
    std::optional<std::vector<std::size_t>> axes(std::size_t position) const;
    std::optional<std::size_t> axis(std::string_view attribute, std::int64_t fallback) const;
    bool isFloating() const;  ///< the result

    CanonicalTerms& terms;

  private:
    const graph::InternalGraph& m_graph;
    const graph::Expr& m_expr;
    std::size_t m_output;
    const TermOf& m_termOf;
    const ValueOf& m_valueOf;
    const StoredTerm& m_storedTerm;
};

// What only moves elements.

std::optional<TermId> reshapeForm(FormCall& call);  ///< of any operator that gives all elements in another shape
std::optional<TermId> transposeForm(FormCall& call);
std::optional<TermId> sliceForm(FormCall& call);
std::optional<TermId> gatherForm(FormCall& call);  ///< of one index; else nothing
std::optional<TermId> splitForm(FormCall& call);
std::optional<TermId> depthToSpaceForm(FormCall& call);
std::optional<TermId> expandForm(FormCall& call);
std::optional<TermId> padForm(FormCall& call);
std::optional<TermId> resizeForm(FormCall& call);

/// Operations of ONNX that are known in more than one form, in the canonical one; of others nothing. See the table in
/// the source: tst_other_forms runs both forms of each row on random numbers.
std::optional<TermId> canonicalForm(FormCall& call);

}  // namespace sonde::session::diff
