#include "core/session/expression_watches.h"

#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <utility>

#include "core/session/node_names.h"

namespace sonde::session {

using graph::NodeId;
using tensor::Value;

namespace {

constexpr std::int64_t kMaxListed = 8;  ///< elements of a tensor that a line shows
constexpr expression::Limits kWatchLimits{std::int64_t{1} << 26, std::size_t{1} << 29};

std::string shortNumber(double value) {
    if (std::isnan(value)) return "nan";
    if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
    char text[32];
    std::snprintf(text, sizeof text, "%.6g", value);
    return text;
}

std::string statsText(const analysis::TensorStats& stats) {
    std::string text;
    if (stats.finiteCount() > 0)
        text = "min " + shortNumber(stats.minimum) + "  max " + shortNumber(stats.maximum) + "  mean " +
               shortNumber(stats.mean);
    if (stats.nanCount > 0) text += "  nan " + std::to_string(stats.nanCount);
    if (stats.infCount > 0) text += "  inf " + std::to_string(stats.infCount);
    return text;
}

}  // namespace

std::string ExpressionResult::text() const {
    if (error) return error->what;
    if (stats && (!value.isTensor() || value.tensor().numel() > kMaxListed)) return type + "  " + statsText(*stats);
    if (value.isTensor() && value.tensor().rank() == 0) return value.tensor().elementText(0);
    return value.isNone() ? type : value.text(200);
}

ExpressionResult evaluateWatch(const expression::Expression& expression, const expression::Names& names,
                               const base::WorkContext& work) {
    ExpressionResult result;
    auto value = expression::evaluate(expression, names, work, kWatchLimits);
    if (!value) {
        result.column = expression::errorColumn(value.error());
        result.error = std::move(value).error();
        return result;
    }
    result.type = value->typeText();
    if (value->isNumber()) result.scalar = value->number();
    if (!value->isTensor()) {
        result.value = std::move(*value);
        return result;
    }
    const tensor::Tensor& tensor = value->tensor();
    const bool isText = tensor.dtype() == tensor::DType::String;
    if (tensor.numel() == 1 && !isText) result.scalar = tensor.toDouble(0);
    else if (!isText) result.stats = analysis::tensorStats(tensor, work.stop);
    // A copy: it would else keep memory of the run.
    if (tensor.sizeBytes() <= ExpressionResult::kMaxKeptBytes)
        if (auto copy = tensor.clone()) result.value = std::move(*copy);
    return result;
}

// --- the list -------------------------------------------------------------------------------------------------------

const ExpressionWatches::Entry* ExpressionWatches::find(int id) const {
    const auto found = std::ranges::find(m_entries, id, &Entry::id);
    return found == m_entries.end() ? nullptr : &*found;
}

ExpressionWatches::Entry* ExpressionWatches::entryOf(int id) {
    const auto found = std::ranges::find(m_entries, id, &Entry::id);
    return found == m_entries.end() ? nullptr : &*found;
}

void ExpressionWatches::read(Entry& entry) {
    entry.parsed = {};
    entry.result.reset();
    auto parsed = expression::parse(entry.text);
    if (parsed) {
        entry.parsed = std::move(*parsed);
        return;
    }
    entry.result.emplace();
    entry.result->column = expression::errorColumn(parsed.error());
    entry.result->error = std::move(parsed).error();
}

base::Result<int> ExpressionWatches::add(std::string text, NodeId pin) {
    if (m_entries.size() >= kMaxWatches)
        return base::usageError("there are " + std::to_string(kMaxWatches) + " expression watches already");
    Entry& entry = m_entries.emplace_back();
    entry.id = ++m_lastId;
    entry.text = std::move(text);
    entry.pin = pin;
    read(entry);
    changed();
    return m_lastId;
}

bool ExpressionWatches::setText(int id, std::string text) {
    Entry* const entry = entryOf(id);
    if (!entry) return false;
    if (entry->text == text) return true;
    entry->text = std::move(text);
    m_history.forget(id);
    read(*entry);
    changed();
    return true;
}

bool ExpressionWatches::setPin(int id, NodeId pin) {
    Entry* const entry = entryOf(id);
    if (!entry) return false;
    entry->pin = pin;
    entry->missingPin.reset();
    m_observer.expressionsChanged();
    return true;
}

bool ExpressionWatches::setEnabled(int id, bool enabled) {
    Entry* const entry = entryOf(id);
    if (!entry) return false;
    if (entry->isEnabled == enabled) return true;
    entry->isEnabled = enabled;
    if (!entry->parsed.empty()) entry->result.reset();
    changed();
    return true;
}

bool ExpressionWatches::remove(int id) {
    if (std::erase_if(m_entries, [id](const Entry& entry) { return entry.id == id; }) == 0) return false;
    m_history.forget(id);
    changed();
    return true;
}

void ExpressionWatches::clear() {
    if (m_entries.empty()) return;
    for (const Entry& entry : m_entries) m_history.forget(entry.id);
    m_entries.clear();
    changed();
}

void ExpressionWatches::changed() {
    findOperands();
    const int last = m_lastId;
    m_observer.expressionsChanged();
    if (last == m_lastId) evaluate(false);
}

std::vector<ExpressionWatch> ExpressionWatches::all() const {
    std::vector<ExpressionWatch> all;
    std::optional<IdentityIndex> index;
    for (const Entry& entry : m_entries) {
        ExpressionWatch watch{entry.text, entry.missingPin, entry.isEnabled};
        if (entry.pin.valid() && m_document) {
            if (!index) index.emplace(*m_document->graph);
            watch.pin = index->of(entry.pin);
        }
        all.push_back(std::move(watch));
    }
    return all;
}

void ExpressionWatches::restore(const std::vector<ExpressionWatch>& watches) {
    m_executor.abandon(Activity::Watches);
    for (const Entry& entry : m_entries) m_history.forget(entry.id);
    m_entries.clear();
    std::optional<IdentityIndex> index;
    for (const ExpressionWatch& watch : watches) {
        if (m_entries.size() >= kMaxWatches) break;
        Entry& entry = m_entries.emplace_back();
        entry.id = ++m_lastId;
        entry.text = watch.text;
        entry.isEnabled = watch.isEnabled;
        entry.missingPin = watch.pin;
        if (watch.pin && m_document) {
            if (!index) index.emplace(*m_document->graph);
            entry.pin = index->find(*watch.pin).node;
            if (entry.pin.valid()) entry.missingPin.reset();
        }
        read(entry);
    }
    findOperands();
}

/// Runs keep the values of these nodes until the expressions are computed.
void ExpressionWatches::findOperands() {
    m_operands.clear();
    if (!m_document) return;
    std::vector<NodeId> computed;
    for (const Entry& entry : m_entries) {
        if (!entry.isEnabled) continue;
        for (const std::string& name : entry.parsed.names()) {
            const auto node = m_document->findNode(name);
            if (!node || !m_operands.insert(*node).second) continue;
            const graph::Expr& producer = m_document->graph->expr(m_document->graph->node(*node).producer);
            if (producer.kind != graph::ExprKind::Input && !m_document->graph->node(*node).constant)
                computed.push_back(*node);
        }
    }
    m_runs.setOperands(std::move(computed));
}

// --- computing ------------------------------------------------------------------------------------------------------

struct ExpressionWatches::Evaluated {
    std::vector<std::pair<int, ExpressionResult>> results;
    History::Run run;
    bool isComplete = true;
};

namespace {

/// Everything that the work needs, so that it touches nothing of the session.
struct WatchTask {
    std::shared_ptr<const document::Document> document;
    std::vector<std::pair<int, expression::Expression>> expressions;
    std::unordered_map<NodeId, Value> operands;
    std::vector<std::pair<NodeId, Value>> kept;  ///< of watched nodes: for their statistics
};

}  // namespace

void ExpressionWatches::evaluate(bool isAfterRun) {
    if (!m_document || m_runs.isRunning() || !m_runs.last().recording) return;
    if (!isAfterRun && m_isForHistory) {
        m_again = true;
        return;
    }
    WatchTask task;
    task.document = m_document;
    if (isAfterRun) task.operands = m_runs.takeOperands();
    const bool wasRequesting = std::exchange(m_isRequesting, true);
    for (const NodeId node : m_operands) {
        if (task.operands.contains(node)) continue;
        if (!isAfterRun) m_values.request(node);
        if (const Value* const value = m_values.of(node)) task.operands.emplace(node, *value);
    }
    m_isRequesting = wasRequesting;
    for (const Entry& entry : m_entries)
        if (entry.isEnabled && !entry.parsed.empty()) task.expressions.emplace_back(entry.id, entry.parsed);
    Evaluated evaluated;
    if (isAfterRun) {
        std::size_t count = 0;
        for (const NodeId node : m_points.kept()) {
            if (count++ >= History::kMaxNodes) break;
            const Value* const value = m_runs.last().recording->value(node);
            if (value && value->isTensor() && value->tensor().dtype() != tensor::DType::String)
                task.kept.emplace_back(node, *value);
            else if (const WatchSummary* const summary = m_runs.summary(node); summary && summary->stats)
                evaluated.run.stats.emplace(node, *summary->stats);
        }
    } else if (task.expressions.empty()) {
        return;
    }
    m_isForHistory = isAfterRun;
    m_stop.renew();
    start(
        m_executor, Activity::Watches, m_stop.token(),
        [task = std::move(task), evaluated = std::move(evaluated)](const base::WorkContext& work) mutable {
            const auto known = [&task](NodeId node) -> const Value* {
                const auto found = task.operands.find(node);
                return found == task.operands.end() ? nullptr : &found->second;
            };
            for (const auto& [id, expression] : task.expressions) {
                ExpressionResult result = evaluateWatch(expression, nodeNames(*task.document, known), work);
                if (result.scalar) evaluated.run.scalars.emplace(id, *result.scalar);
                evaluated.results.emplace_back(id, std::move(result));
            }
            for (const auto& [node, value] : task.kept) {
                if (work.cancelled()) break;
                evaluated.run.stats.emplace(node, analysis::tensorStats(value.tensor(), work.stop));
            }
            evaluated.isComplete = !work.cancelled();
            return std::move(evaluated);
        },
        [this](Evaluated evaluated) { adopt(std::move(evaluated)); });
}

void ExpressionWatches::adopt(Evaluated evaluated) {
    const bool isForHistory = std::exchange(m_isForHistory, false);
    const bool again = std::exchange(m_again, false);
    if (!m_runs.checkFiles()) return;  // values may be of another file's bytes
    for (auto& [id, result] : evaluated.results)
        if (Entry* const entry = entryOf(id); entry && entry->isEnabled && !entry->parsed.empty())
            entry->result = std::move(result);
    if (isForHistory && evaluated.isComplete) m_history.add(std::move(evaluated.run));
    m_observer.expressionsChanged();
    if (again) evaluate(false);
}

// --- by the session -------------------------------------------------------------------------------------------------

void ExpressionWatches::bind(std::shared_ptr<const document::Document> document,
                             const std::shared_ptr<const document::Document>& before) {
    m_executor.abandon(Activity::Watches);
    m_isForHistory = m_again = false;
    m_history.clear();
    const bool hasPins = std::ranges::any_of(
        m_entries, [](const Entry& entry) { return entry.pin.valid() || entry.missingPin.has_value(); });
    std::optional<IdentityIndex> index;
    if (hasPins && before) index.emplace(*before->graph);
    for (Entry& entry : m_entries) {
        if (entry.pin.valid() && index) entry.missingPin = index->of(entry.pin);
        entry.pin = {};
        if (!entry.parsed.empty()) entry.result.reset();
    }
    m_document = std::move(document);
    if (!m_document) m_entries.clear();
    if (hasPins && m_document) {
        index.emplace(*m_document->graph);
        for (Entry& entry : m_entries) {
            if (!entry.missingPin) continue;
            entry.pin = index->find(*entry.missingPin).node;
            if (entry.pin.valid()) entry.missingPin.reset();
        }
    }
    findOperands();
}

void ExpressionWatches::documentLeft() { m_executor.abandon(Activity::Watches); }

void ExpressionWatches::runFinished() {
    // An observer who ran again has led to this for the newer run already.
    if (const auto& recording = m_runs.last().recording) {
        if (m_historyOf.lock() == recording) return;
        m_historyOf = recording;
        return evaluate(true);
    }
    m_executor.abandon(Activity::Watches);
    m_isForHistory = m_again = false;
    bool had = false;
    for (Entry& entry : m_entries) {
        had = had || (entry.result && !entry.parsed.empty());
        if (!entry.parsed.empty()) entry.result.reset();
    }
    if (had) m_observer.expressionsChanged();
}

void ExpressionWatches::valueArrived(NodeId node) {
    if (!m_isRequesting && m_operands.contains(node)) evaluate(false);
}

}  // namespace sonde::session
