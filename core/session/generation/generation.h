#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/random.h"
#include "core/session/generation/fed_values.h"

namespace sonde::session {

/// How the next token is chosen, and what goes from one run to the next.
struct GenerationRequest {
    std::vector<std::string> fed;  ///< "OUTPUT=INPUT": see fedValues(); empty: by the usual names
    double temperature = 0;        ///< logits are divided by it before one is drawn; 0: the most likely token is taken
    std::int64_t top = 0;          ///< drawn of so many most likely tokens; 0: of all
    std::uint64_t seed = 0;        ///< of the draws
    std::optional<std::int64_t> end;  ///< token after which nothing is to come
};

struct GeneratedToken {
    std::int64_t id = 0;
    double probability = 0;  ///< softmax of the logits, whatever the temperature is
};

/// A text that a model goes on with, a token a run. What a run says last becomes an input of the next: with a cache (a
/// FedValue) the run computes the new token only, without one the whole text again.
///
///     SONDE_ASSIGN(auto generation, Generation::of(document, {}));
///     SONDE_TRY(generation.begin(values));
///     while (!generation.isFinished()) {
///         session.runs().giveValues(generation.inputs());
///         session.runs().run();
///         SONDE_ASSIGN(const GeneratedToken token, generation.take(session.runs().last().recording->outputs));
///     }
class Generation {
  public:
    /// Errors (Usage): no input takes token ids; see fedValues().
    static base::Result<Generation> of(const document::Document& document, const GenerationRequest& request);

    const std::vector<FedValue>& fed() const { return m_fed; }
    /// The inputs of the first run, in the order of the document's; ids int[T] or int[1,T]. Errors (Usage): a missing
    /// value, ids that are no text, or of several.
    base::Result<void> begin(std::vector<tensor::Value> given);
    /// All inputs of the first run in the grammar of --input-data: the prompt, what `others` gives, and where that
    /// gives nothing: a mask of ones, positions from 0, token types 0, and states as emptyState() makes them. Errors:
    /// those of emptyState().
    base::Result<std::string> inputData(const std::vector<std::int64_t>& prompt, std::string_view others = {}) const;
    /// Of the next run.
    const std::vector<tensor::Value>& inputs() const { return m_inputs; }
    /// Chooses the token that follows from a run's outputs, in the order of the document's, and makes the inputs of the
    /// run after. Logits are the floats [1,T,V] or [1,V] whose name says so, else the first of such a shape; the last
    /// position counts. Errors: there are none, the end token is none of them (Usage); nothing but NaN, memory (Run).
    base::Result<GeneratedToken> take(const std::vector<tensor::Value>& outputs);
    /// Why no run may follow: the end token came, or an input can take no further token. Empty: it may.
    const std::string& endReason() const { return m_endReason; }
    bool isFinished() const { return !m_endReason.empty(); }
    /// The text and what followed.
    const std::vector<std::int64_t>& ids() const { return m_ids; }

  private:
    /// What becomes of an input from one run to the next.
    enum class Role : std::uint8_t {
        Stays,
        Fed,        ///< from an output
        Ids,        ///< the new token, behind the others or alone
        Types,      ///< as that of the last token
        Positions,  ///< one more than the last
        Mask,       ///< 1 for the new token, behind the others even with a cache
    };
    struct InputPart {
        std::string name;
        tensor::TypeInfo type;  ///< that values have to be of; nothing is known of it where any will do
        Role role = Role::Stays;
    };

    Generation() = default;
    static Role roleOf(const document::NamedNode& input, const tensor::TypeInfo& type);
    base::Result<tensor::Tensor> logitsOf(const std::vector<tensor::Value>& outputs) const;
    base::Result<GeneratedToken> chosen(const std::vector<double>& logits);
    base::Result<void> advance(const std::vector<tensor::Value>& outputs, std::int64_t token);

    std::shared_ptr<const graph::InternalGraph> m_graph;
    std::vector<document::NamedNode> m_named;  ///< inputs, as those that follow
    std::vector<InputPart> m_parts;
    std::vector<std::string> m_outputs;
    std::vector<FedValue> m_fed;
    std::size_t m_idsInput = 0;
    GenerationRequest m_request;
    base::Random m_random{0};
    std::vector<tensor::Value> m_inputs;
    std::vector<std::int64_t> m_ids;
    std::string m_endReason;
};

}  // namespace sonde::session
