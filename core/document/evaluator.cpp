#include "core/document/evaluator.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>

#include "core/base/exception_text.h"
#include "core/base/random.h"
#include "core/ops/registry/registry.h"
#include "core/trace/overloads.h"
#include "core/trace/seeded_evaluator.h"

namespace sonde::document {

namespace {

using tensor::Value;

class KernelEvaluator final : public trace::Evaluator, public trace::OverloadTable, public trace::SeedableEvaluator {
  public:
    KernelEvaluator() = default;
    explicit KernelEvaluator(std::uint64_t seed) : m_seed(seed) {}
    std::shared_ptr<const trace::Evaluator> withSeed(std::uint64_t seed) const override {
        return std::make_shared<KernelEvaluator>(seed);
    }

    base::Result<std::vector<Value>> evaluate(const graph::OpKey& key, std::span<const Value> arguments,
                                              std::span<const std::pair<std::string, Value>> keywords,
                                              std::size_t outputCount) const override {
        const ops::OpDef* op = ops::Registry::all().find(key.domain, key.name, key.version);
        if (!op || !op->kernel) return base::unreadable("operator " + key.domain + "::" + key.name + " is not known");
        std::vector<Value> values(arguments.begin(), arguments.end());
        SONDE_TRY(bind(*op, values, keywords));
        const std::scoped_lock lock(m_mutex);  // one call at a time per pool
        ops::RunEnvironment environment;
        environment.pool = &m_pool;
        if (m_seed) environment.seed = base::mixBits(*m_seed + ++m_calls * base::Random::kStep);
        try {
            return ops::call(*op, values, {}, outputCount, environment, key.version);
        } catch (const std::exception& exception) {
            return base::runError(base::exceptionText(exception));
        }
    }

    std::vector<std::string> parameterNames(const graph::OpKey& key) const override {
        std::vector<std::string> names;
        if (const ops::OpDef* op = ops::Registry::all().find(key.domain, key.name, key.version)) {
            for (const ops::Parameter& parameter : op->parameters) names.emplace_back(parameter.name);
        }
        return names;
    }

    std::vector<std::string> overloadsOf(std::string_view name) const override {
        std::vector<std::string> names;
        for (const ops::OpDef* row : overloadRows(name)) names.emplace_back(row->name);
        return names;
    }

    std::size_t outputsOf(std::string_view op) const override {
        const ops::OpDef* row = ops::Registry::all().find("aten", op, 0);
        return row ? std::max<std::size_t>(row->outputs.size(), 1) : 1;
    }

    std::vector<std::string> overloadsFor(
        std::string_view name, const std::vector<trace::ArgumentKind>& arguments,
        const std::vector<std::pair<std::string, trace::ArgumentKind>>& keywords) const override {
        std::vector<std::string> closest;
        int best = 0;
        for (const ops::OpDef* row : overloadRows(name)) {
            const auto fit = fitOf(*row, arguments, keywords);
            if (!fit || (!closest.empty() && *fit < best)) continue;
            if (closest.empty() || *fit > best) closest.clear();
            best = *fit;
            closest.emplace_back(row->name);
        }
        return closest;
    }

  private:
    /// Rows "name" and "name.…".
    static const std::vector<const ops::OpDef*>& overloadRows(std::string_view name) {
        static const auto table = [] {
            std::map<std::string, std::vector<const ops::OpDef*>, std::less<>> rows;
            for (const ops::OpDef* row : ops::Registry::all().rows()) {
                if (row->domain == "aten" && !row->parameters.empty())
                    rows[std::string(row->name.substr(0, row->name.find('.')))].push_back(row);
            }
            return rows;
        }();
        static const std::vector<const ops::OpDef*> none;
        const auto found = table.find(name);
        return found == table.end() ? none : found->second;
    }

    /// How well an argument goes for a parameter of a schema: 2 as it is, 1 converted or perhaps; none: not at all.
    static std::optional<int> fitOf(std::string_view type, trace::ArgumentKind kind) {
        using enum trace::ArgumentKind;
        if (type.ends_with('?')) {
            if (kind == None) return 2;
            type.remove_suffix(1);
        }
        if (kind == Unknown) return 1;
        const auto fits = [](bool exactly, bool converted) {
            return exactly ? std::optional(2) : converted ? std::optional(1) : std::nullopt;
        };
        if (type == "Tensor") return fits(kind == Tensor, false);
        if (type == "Scalar") return fits(kind == Int || kind == Float, kind == Bool);
        if (type == "int" || type == "SymInt") return fits(kind == Int, kind == Bool);
        if (type == "float") return fits(kind == Float, kind == Int);
        if (type == "bool") return fits(kind == Bool, false);
        if (type == "str") return fits(kind == String, false);
        if (type.starts_with("int[") || type.starts_with("SymInt["))
            return fits(kind == Ints, kind == Int && type.size() > type.find('[') + 2);
        if (type.starts_with("Tensor")) return fits(kind == Tensors, kind == Ints);  // an empty list
        return 1;
    }

    static std::optional<int> fitOf(const ops::OpDef& row, const std::vector<trace::ArgumentKind>& arguments,
                                    const std::vector<std::pair<std::string, trace::ArgumentKind>>& keywords) {
        int sum = 0;
        std::size_t used = 0;
        for (std::size_t i = 0; i < row.parameters.size(); ++i) {
            const ops::Parameter& parameter = row.parameters[i];
            std::optional<int> fit;
            const auto named = std::ranges::find(keywords, parameter.name,
                                                 [](const auto& entry) { return std::string_view(entry.first); });
            if (i < arguments.size() && !parameter.keywordOnly) {
                fit = fitOf(parameter.type, arguments[i]);
            } else if (named != keywords.end()) {
                fit = fitOf(parameter.type, named->second);
                ++used;
            } else if (parameter.fallback) {
                continue;
            }
            if (!fit) return std::nullopt;
            sum += *fit;
        }
        const bool takesAll = used == keywords.size() && arguments.size() <= row.parameters.size();
        return takesAll ? std::optional(sum) : std::nullopt;
    }

    /// Keywords and defaults take their places.
    static base::Result<void> bind(const ops::OpDef& op, std::vector<Value>& values,
                                   std::span<const std::pair<std::string, Value>> keywords) {
        const std::vector<ops::Parameter>& parameters = op.parameters;
        const std::string name(op.name);
        if (parameters.empty() && keywords.empty()) return {};  // an operator without a schema takes what it is given
        if (values.size() > parameters.size()) {
            return base::runError(name + " takes " + std::to_string(parameters.size()) + " arguments, not " +
                                  std::to_string(values.size()));
        }
        std::vector<bool> given(parameters.size(), false);
        std::fill_n(given.begin(), values.size(), true);
        values.resize(parameters.size());
        for (const auto& [key, value] : keywords) {
            const auto found = std::ranges::find(parameters, std::string_view(key), &ops::Parameter::name);
            if (found == parameters.end()) return base::runError(name + " has no parameter '" + key + "'");
            const auto index = static_cast<std::size_t>(found - parameters.begin());
            values[index] = value;
            given[index] = true;
        }
        for (std::size_t i = 0; i < parameters.size(); ++i) {
            if (given[i]) continue;
            if (!parameters[i].fallback)
                return base::runError(name + " is missing its argument '" + std::string(parameters[i].name) + "'");
            values[i] = *parameters[i].fallback;
        }
        return {};
    }

    std::optional<std::uint64_t> m_seed;
    mutable std::uint64_t m_calls = 0;
    mutable std::mutex m_mutex;
    mutable base::ThreadPool m_pool{1};
};

}  // namespace

std::shared_ptr<const trace::Evaluator> kernelEvaluator() {
    static const std::shared_ptr<const trace::Evaluator> evaluator = std::make_shared<KernelEvaluator>();
    return evaluator;
}

}  // namespace sonde::document
