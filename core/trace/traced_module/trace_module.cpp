// Making traced modules, and what is registered for that.

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>

#include "core/base/number_text.h"
#include "core/trace/traced_module.h"
#include "core/trace/traced_module/traced_module_tracer.h"

namespace sonde::trace {

using tensor::Value;

base::Result<void> compareResults(const Value& expected, const Value& actual, double relative, double smallest) {
    if (expected.kind() != actual.kind())
        return base::Error{base::ErrorKind::Comparison, actual.typeText() + " instead of " + expected.typeText()};
    if (expected.isTensor()) {
        const tensor::Tensor& a = expected.tensor();
        const tensor::Tensor& b = actual.tensor();
        if (a.dtype() != b.dtype() || a.shape() != b.shape()) {
            return base::Error{base::ErrorKind::Comparison, b.typeText() + " instead of " + a.typeText()};
        }
        if (tensor::identical(a, b)) return {};
        for (std::int64_t i = 0; i < a.numel(); ++i) {
            const double x = a.toDouble(i);
            const double y = b.toDouble(i);
            if (x == y || (std::isnan(x) && std::isnan(y))) continue;
            if (!(std::abs(x - y) <= relative * std::max({std::abs(x), std::abs(y), smallest}))) {
                return base::Error{base::ErrorKind::Comparison, "element " + std::to_string(i) + " is " +
                                                                    base::shortestText(y) + " instead of " +
                                                                    base::shortestText(x)};
            }
        }
        return {};
    }
    if (expected.isListLike()) {
        if (expected.items().size() != actual.items().size())
            return base::Error{base::ErrorKind::Comparison, "a different number of results"};
        for (std::size_t i = 0; i < expected.items().size(); ++i)
            SONDE_TRY(compareResults(expected.items()[i], actual.items()[i], relative, smallest));
        return {};
    }
    if (expected.kind() == tensor::ValueKind::Dict) {
        if (expected.dictItems().size() != actual.dictItems().size())
            return base::Error{base::ErrorKind::Comparison, "a different number of results"};
        for (const auto& [key, value] : expected.dictItems()) {
            const auto found = std::ranges::find_if(
                actual.dictItems(), [&, &k = key](const auto& e) { return tensor::identical(e.first, k); });
            if (found == actual.dictItems().end())
                return base::Error{base::ErrorKind::Comparison, "a result has no key " + key.text()};
            SONDE_TRY(compareResults(value, found->second, relative, smallest));
        }
        return {};
    }
    if (!tensor::identical(expected, actual))
        return base::Error{base::ErrorKind::Comparison, actual.text() + " instead of " + expected.text()};
    return {};
}

base::Result<std::shared_ptr<TracedModule>> traceModule(const std::shared_ptr<Module>& module, std::vector<Value> args,
                                                        std::vector<std::pair<std::string, Value>> keywords,
                                                        const TraceModuleOptions& options) {
    Keywords named;
    for (auto& [name, value] : keywords) named.emplace_back(name, Var(std::move(value)));
    std::string forwardName;
    try {
        if (module) forwardName = module->forwardName();
    } catch (...) {
        return TraceError::ofCurrentException().toError({});
    }
    return traceForward(module, forwardName, std::vector<Var>(args.begin(), args.end()), std::move(named), options);
}

base::Result<std::shared_ptr<TracedModule>> traceForward(const std::shared_ptr<Module>& module,
                                                         const std::string& forwardName, std::vector<Var> args,
                                                         Keywords named, const TraceModuleOptions& options) {
    if (!module) return base::usageError("there is no module to trace");
    std::string className;
    try {
        className = module->className();
        SONDE_TRY(checkHierarchy(*module));
        if (Tracer::active()) return base::usageError("only one trace may be active", className);
        Value eager;
        std::shared_ptr<TracedModule> traced;
        {
            TracedModuleTracer tracer(options);
            const ActiveTracer active(tracer);
            eager = module->callForward(forwardName, args, named).toValue();
            traced = tracer.top();
            traced->setEvaluator(EvaluatorScope::current());
        }
        SONDE_TRY(checkHierarchy(*module));  // a forward may have added children
        if (options.checkResult) {
            const Value again = traced->callForward(forwardName, args, named).toValue();
            if (const auto same = compareResults(eager, again, 1e-7); !same) {
                base::Error error = same.error();
                error.what = "the traced module returns another result than the module: " + error.what;
                return error.at(className);
            }
        }
        return traced;
    } catch (...) {
        return TraceError::ofCurrentException().toError(className);
    }
}

namespace {

struct Registry {
    std::mutex mutex;
    std::set<std::string, std::less<>> builtins;
    std::set<std::string, std::less<>> qat;
    std::map<std::string, std::function<Var(std::span<const Var>)>, std::less<>> wrapped;
};

Registry& registry() {
    static Registry instance;
    return instance;
}

}  // namespace

void registerAsBuiltin(std::string className) {
    const std::scoped_lock lock(registry().mutex);
    registry().builtins.insert(std::move(className));
}

bool isRegisteredBuiltin(std::string_view className) {
    const std::scoped_lock lock(registry().mutex);
    return registry().builtins.contains(className);
}

void registerAsQat(std::string className) {
    const std::scoped_lock lock(registry().mutex);
    registry().qat.insert(std::move(className));
}

bool isRegisteredQat(std::string_view className) {
    const std::scoped_lock lock(registry().mutex);
    return registry().qat.contains(className);
}

WrappedFunction wrap(std::string name, std::function<Var(std::span<const Var>)> function) {
    if (Tracer::active())
        throw TraceError(TraceErrorKind::Assertion, "wrap must be called before a trace, not in a forward");
    const std::scoped_lock lock(registry().mutex);
    registry().wrapped.insert_or_assign(name, std::move(function));
    return WrappedFunction(std::move(name));
}

const std::function<Var(std::span<const Var>)>* wrappedFunction(const std::string& name) {
    const std::scoped_lock lock(registry().mutex);
    const auto found = registry().wrapped.find(name);
    return found == registry().wrapped.end() ? nullptr : &found->second;
}

Var WrappedFunction::call(std::vector<Var> args, Keywords keywords) const {
    const auto* function = wrappedFunction(m_name);
    if (!function) throw TraceError(TraceErrorKind::Name, "there is no wrapped function '" + m_name + "'");
    auto* tracer = dynamic_cast<TracedModuleTracer*>(Tracer::active());
    const bool hasProxy = std::ranges::any_of(args, [](const Var& var) { return var.hasProxy(); });
    if (!tracer || !hasProxy || !keywords.empty()) return (*function)(args);
    return tracer->recording().record(graph::ExprKind::CallFunction, {"wrap", m_name, 0}, m_name, m_name,
                                      std::move(args), {}, true, 1);
}

}  // namespace sonde::trace
