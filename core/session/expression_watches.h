#pragma once

#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "core/expression/expression.h"
#include "core/session/points.h"
#include "core/session/values.h"
#include "core/session/watch/history.h"

namespace sonde::session {

/// An expression that is computed after each run, as a user gave it.
struct ExpressionWatch {
    std::string text;
    std::optional<NodeIdentity> pin;  ///< the node that its result is shown on
    bool isEnabled = true;

    bool operator==(const ExpressionWatch&) const = default;
};

/// What an expression came to.
struct ExpressionResult {
    static constexpr std::size_t kMaxKeptBytes = std::size_t{1} << 20;

    std::optional<base::Error> error;
    std::optional<std::size_t> column;  ///< of the error in the expression, from 1
    /// None of an error, and of a tensor with more than kMaxKeptBytes.
    tensor::Value value;
    std::string type;                            ///< "float32[64]"
    std::optional<double> scalar;                ///< of a number, a bool, and a tensor with one element
    std::optional<analysis::TensorStats> stats;  ///< of a tensor with several elements
    /// In one line: the number, the elements of a small tensor, statistics of a larger one, or the error.
    std::string text() const;
};

/// Computes an expression, within limits that suit something that is done again and again.
ExpressionResult evaluateWatch(const expression::Expression& expression, const expression::Names& names,
                               const base::WorkContext& work = {});

/// The expressions that a user watches and what they came to in the last run, and the history of watched nodes and
/// expressions over the last runs. Names are those of evaluate() in expressions.h. What expressions need is kept by
/// runs until they are computed, watched or not. See Session for threads.
class ExpressionWatches {
  public:
    static constexpr std::size_t kMaxWatches = 256;

    struct Entry {
        int id = 0;  ///< never used twice
        std::string text;
        graph::NodeId pin;  ///< none: nowhere, or on a node that the model has not
        bool isEnabled = true;
        expression::Expression parsed;  ///< empty if the text is none
        /// Of the last run; none before it, while disabled, and until it is computed. What is wrong with the text at
        /// once.
        std::optional<ExpressionResult> result;
        std::optional<NodeIdentity> missingPin;  ///< what the model has no node for
    };

    ExpressionWatches(Executor& executor, Observer& observer, Runs& runs, Values& values, const Points& points)
        : m_executor(executor), m_observer(observer), m_runs(runs), m_values(values), m_points(points) {}

    const std::vector<Entry>& entries() const { return m_entries; }
    const Entry* find(int id) const;
    bool isActive() const { return m_executor.isActive(Activity::Watches); }
    const History& history() const { return m_history; }
    void setHistoryLimit(std::size_t runs) { m_history.setLimit(runs); }

    // Each tells expressionsChanged().
    /// A text that is no expression is kept with its error, to be corrected. Usage error: there are kMaxWatches.
    base::Result<int> add(std::string text, graph::NodeId pin = {});
    /// False if there is no such watch; so below.
    bool setText(int id, std::string text);
    bool setPin(int id, graph::NodeId pin);
    bool setEnabled(int id, bool enabled);
    bool remove(int id);
    void clear();

    /// All of them, for keeping.
    std::vector<ExpressionWatch> all() const;
    /// In place of those there are; tells nobody. More than kMaxWatches are left out.
    void restore(const std::vector<ExpressionWatch>& watches);

    void stop() { m_stop.stop(); }

    /// By the session.
    void bind(std::shared_ptr<const document::Document> document,
              const std::shared_ptr<const document::Document>& before);
    void documentLeft();
    void runFinished();
    void valueArrived(graph::NodeId node);

  private:
    struct Evaluated;

    void read(Entry& entry);
    Entry* entryOf(int id);
    void changed();
    void findOperands();
    void evaluate(bool isAfterRun);
    void adopt(Evaluated evaluated);

    Executor& m_executor;
    Observer& m_observer;
    Runs& m_runs;
    Values& m_values;
    const Points& m_points;
    std::shared_ptr<const document::Document> m_document;
    StopSwitch m_stop;
    std::vector<Entry> m_entries;
    std::unordered_set<graph::NodeId> m_operands;
    History m_history;
    std::weak_ptr<const exec::Recording> m_historyOf;  ///< of the last run that it has, or will have
    int m_lastId = 0;
    bool m_isRequesting = false;
    bool m_isForHistory = false;  ///< the work that goes on
    bool m_again = false;         ///< expressions have changed meanwhile
};

}  // namespace sonde::session
