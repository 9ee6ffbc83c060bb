#include "core/document/evaluator.h"

#include <algorithm>
#include <mutex>

#include "core/ops/registry/registry.h"

namespace sonde::document {

namespace {

using tensor::Value;

class KernelEvaluator final : public trace::Evaluator {
  public:
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
        try {
            return ops::call(*op, values, {}, outputCount, environment, key.version);
        } catch (const std::exception& exception) {
            return base::runError(exception.what());
        }
    }

    std::vector<std::string> parameterNames(const graph::OpKey& key) const override {
        std::vector<std::string> names;
        if (const ops::OpDef* op = ops::Registry::all().find(key.domain, key.name, key.version)) {
            for (const ops::Parameter& parameter : op->parameters) names.emplace_back(parameter.name);
        }
        return names;
    }

  private:
    /// Keywords and defaults take their places.
    static base::Result<void> bind(const ops::OpDef& op, std::vector<Value>& values,
                                   std::span<const std::pair<std::string, Value>> keywords) {
        const std::vector<ops::Parameter>& parameters = op.parameters;
        const std::string name(op.name);
        if (parameters.empty() && keywords.empty()) return {};  // an operator without a schema takes what it is given
        if (values.size() > parameters.size()) {
            return base::runError(name + " takes " + std::to_string(parameters.size()) + " arguments, not " + std::to_string(values.size()));
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
            if (!parameters[i].fallback) return base::runError(name + " lacks its argument '" + std::string(parameters[i].name) + "'");
            values[i] = *parameters[i].fallback;
        }
        return {};
    }

    mutable std::mutex m_mutex;
    mutable base::ThreadPool m_pool{1};
};

}  // namespace

std::shared_ptr<const trace::Evaluator> kernelEvaluator() {
    static const std::shared_ptr<const trace::Evaluator> evaluator = std::make_shared<KernelEvaluator>();
    return evaluator;
}

}  // namespace sonde::document
