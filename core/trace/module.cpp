#include "core/trace/module.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <unordered_map>
#include <unordered_set>

namespace sonde::trace {

/// Long chains of modules go one by one and not each inside of the destructor of the one before.
Module::~Module() {
    std::vector<Child> left = std::move(m_children);
    while (!left.empty()) {
        const std::shared_ptr<Module> module = std::move(left.back().module);
        left.pop_back();
        if (!module || module.use_count() > 1) continue;
        left.insert(left.end(), std::make_move_iterator(module->m_children.begin()),
                    std::make_move_iterator(module->m_children.end()));
        module->m_children.clear();
    }
}

std::vector<ForwardParameter> Module::signature() const { return {{"input", std::nullopt, false}}; }

Var Module::forward(std::span<const Var>) {
    throw TraceError(TraceErrorKind::NotImplemented,
                     "Module [" + className() + "] is missing the required \"forward\" function");
}

std::vector<Var> Module::bound(std::vector<Var> args, const Keywords& keywords) const {
    const std::vector<ForwardParameter> parameters = signature();
    const auto wrong = [this](const std::string& what) {
        return TraceError(TraceErrorKind::Type, "forward() of " + className() + what);
    };
    const auto indexOf = [&](auto&& isIt) {
        return static_cast<std::size_t>(std::ranges::find_if(parameters, isIt) - parameters.begin());
    };
    const std::size_t rest = indexOf([](const ForwardParameter& p) { return p.collects && !p.keywordOnly; });
    const std::size_t named = indexOf([](const ForwardParameter& p) { return p.collects && p.keywordOnly; });
    const auto positional = static_cast<std::size_t>(
        std::ranges::count_if(parameters, [](const auto& p) { return !p.keywordOnly && !p.collects; }));
    std::vector<Var> left;
    if (args.size() > positional) {
        if (rest == parameters.size()) {
            throw wrong(" takes " + std::to_string(positional) + " positional arguments but " +
                        std::to_string(args.size()) + " were given");
        }
        left.assign(std::make_move_iterator(args.begin() + static_cast<std::ptrdiff_t>(positional)),
                    std::make_move_iterator(args.end()));
        args.resize(positional);
    }
    std::vector<bool> given(parameters.size(), false);
    std::fill_n(given.begin(), args.size(), true);
    args.resize(parameters.size());
    std::map<std::string, Var> leftNamed;
    for (const auto& [name, value] : keywords) {
        const std::size_t index =
            indexOf([&name = name](const ForwardParameter& p) { return p.name == name && !p.collects; });
        const bool isLeft = index == parameters.size();
        if (isLeft && named == parameters.size()) throw wrong(" got an unexpected keyword argument '" + name + "'");
        if (isLeft ? leftNamed.contains(name) : given[index])
            throw wrong(" got multiple values for argument '" + name + "'");
        if (isLeft) {
            leftNamed.emplace(name, value);
            continue;
        }
        given[index] = true;
        args[index] = value;
    }
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (given[i] || parameters[i].collects) continue;
        if (!parameters[i].fallback) throw wrong(" missing required argument '" + parameters[i].name + "'");
        args[i] = Var(*parameters[i].fallback);
    }
    if (rest < parameters.size()) args[rest] = Var::tuple(std::move(left));
    if (named < parameters.size()) {
        std::vector<std::pair<tensor::Value, Var>> entries;
        for (auto& [name, value] : leftNamed) entries.emplace_back(tensor::Value(name), std::move(value));
        args[named] = Var::dict(std::move(entries));
    }
    return args;
}

CallArguments spread(std::span<const ForwardParameter> parameters, std::span<const Var> values) {
    CallArguments result;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const Var& value = values[i];
        if (parameters[i].collects && value.kind() == Var::Kind::Tuple) {
            result.positional.insert(result.positional.end(), value.items().begin(), value.items().end());
        } else if (parameters[i].collects && value.kind() == Var::Kind::Dict) {
            for (std::size_t k = 0; k < value.items().size(); ++k)
                result.keywords.emplace_back(value.keys()[k].toString(), value.items()[k]);
        } else if (parameters[i].keywordOnly) {
            result.keywords.emplace_back(parameters[i].name, value);
        } else {
            result.positional.push_back(value);
        }
    }
    return result;
}

std::vector<Var> gathered(std::span<const ForwardParameter> parameters, const CallArguments& arguments) {
    std::vector<Var> result;
    std::size_t positional = 0;
    std::size_t keyword = 0;
    for (const ForwardParameter& parameter : parameters) {
        if (parameter.collects && parameter.keywordOnly) {
            std::vector<std::pair<tensor::Value, Var>> entries;
            for (; keyword < arguments.keywords.size(); ++keyword) {
                entries.emplace_back(tensor::Value(arguments.keywords[keyword].first),
                                     arguments.keywords[keyword].second);
            }
            result.push_back(Var::dict(std::move(entries)));
        } else if (parameter.collects) {
            result.push_back(Var::tuple(
                {arguments.positional.begin() + static_cast<std::ptrdiff_t>(positional), arguments.positional.end()}));
            positional = arguments.positional.size();
        } else {
            result.push_back(parameter.keywordOnly ? arguments.keywords[keyword++].second
                                                   : arguments.positional[positional++]);
        }
    }
    return result;
}

Module* Module::child(std::string_view name) const {
    for (const Child& child : m_children) {
        if (child.name == name) return child.module.get();
    }
    return nullptr;
}

Module* Module::find(std::string_view path) {
    Module* module = this;
    while (module && !path.empty()) {
        const std::size_t dot = path.find('.');
        module = module->child(path.substr(0, dot));
        path = dot == std::string_view::npos ? std::string_view{} : path.substr(dot + 1);
    }
    return module;
}

Var Module::callForward(std::string_view name, std::vector<Var> args, Keywords keywords) {
    if (name != "forward")
        throw TraceError(TraceErrorKind::Attribute,
                         "'" + className() + "' has no attribute '" + std::string(name) + "'");
    return call(std::move(args), std::move(keywords));
}

void Module::setTraining(bool training) {
    m_training = training;
    for (const Child& child : m_children) child.module->setTraining(training);
}

Attribute Module::addAttribute(std::string name, Slot::Kind kind, tensor::Tensor value) {
    auto slot = std::make_shared<Slot>(Slot{kind, std::move(value)});
    addSlot(std::move(name), slot);
    return Attribute(std::move(slot));
}

namespace {

std::string joined(const std::string& prefix, const std::string& name) {
    return prefix.empty() ? name : prefix + '.' + name;
}

void collectTensors(const Module& module, const std::string& path, std::vector<NamedTensor>& into) {
    for (const Module::NamedSlot& named : module.ownTensors()) into.push_back({joined(path, named.name), named.slot});
    for (const Module::Child& child : module.children()) collectTensors(*child.module, joined(path, child.name), into);
}

void collectModules(Module& module, const std::string& path, std::unordered_set<const Module*>& seen,
                    std::vector<std::pair<std::string, Module*>>& into) {
    if (!seen.insert(&module).second) return;
    into.emplace_back(path, &module);
    for (const Module::Child& child : module.children())
        collectModules(*child.module, joined(path, child.name), seen, into);
}

void describe(const Module& module, const std::string& path, graph::ModuleTree& tree) {
    const std::size_t index = tree.add(path, module.className());
    graph::ModuleInfo& info = tree.mutableModule(index);
    info.moduleClass = module.className();
    for (const Module::NamedSlot& named : module.ownTensors()) {
        if (named.slot->kind == Slot::Kind::Plain) continue;
        const tensor::Tensor& value = named.slot->value;
        graph::ParameterInfo parameter;
        parameter.name = named.name;
        parameter.type = tensor::TypeInfo::tensor(value.dtype(), value.shape());
        parameter.value = value;
        parameter.isBuffer = named.slot->kind == Slot::Kind::Buffer;
        info.parameters.push_back(std::move(parameter));
    }
    for (const Module::Child& child : module.children()) describe(*child.module, joined(path, child.name), tree);
}

}  // namespace

base::Result<void> checkHierarchy(const Module& root) {
    struct Step {
        const Module* module;
        std::size_t next;    ///< child to look at
        std::size_t height;  ///< levels below, as far as seen
    };
    std::unordered_map<const Module*, std::size_t> heights;  // of modules that are done; others are on the way
    constexpr std::size_t kOpen = static_cast<std::size_t>(-1);
    std::vector<Step> way{{&root, 0, 0}};
    heights[&root] = kOpen;
    std::size_t deepest = 0;
    while (!way.empty()) {
        Step& here = way.back();
        if (here.next == here.module->children().size()) {
            const std::size_t height = here.height + 1;
            heights[here.module] = height;
            way.pop_back();
            if (!way.empty()) way.back().height = std::max(way.back().height, height);
            deepest = height;
            continue;
        }
        const Module* child = here.module->children()[here.next++].module.get();
        const auto [known, isNew] = heights.try_emplace(child, kOpen);
        if (isNew) {
            way.push_back({child, 0, 0});
        } else if (known->second == kOpen) {
            return base::unreadable("a module is part of itself", child->className());
        } else {
            here.height = std::max(here.height, known->second);
        }
    }
    if (deepest > kMaxModuleDepth) {
        return base::unreadable("modules nest " + std::to_string(deepest) + " levels deep; the maximum is " +
                                    std::to_string(kMaxModuleDepth),
                                root.className(), "combine several levels into one module");
    }
    return {};
}

std::vector<NamedTensor> namedTensors(const Module& root) {
    std::vector<NamedTensor> result;
    collectTensors(root, {}, result);
    return result;
}

std::vector<std::pair<std::string, Module*>> namedModules(Module& root) {
    std::vector<std::pair<std::string, Module*>> result;
    std::unordered_set<const Module*> seen;
    collectModules(root, {}, seen, result);
    return result;
}

base::Result<void> loadTensors(Module& root, const std::function<tensor::Tensor(const std::string&)>& take,
                               bool strict) {
    for (const NamedTensor& named : namedTensors(root)) {
        if (named.slot->kind == Slot::Kind::Plain) continue;
        tensor::Tensor value = take(named.path);
        if (!value.defined()) {
            if (strict) return base::unreadable("there is no value for the parameter '" + named.path + "'");
            continue;
        }
        const tensor::Tensor& old = named.slot->value;
        if (value.dtype() != old.dtype() || value.shape() != old.shape()) {
            return base::unreadable("'" + named.path + "' is " + old.typeText() + " in the model and " +
                                    value.typeText() + " in the file");
        }
        named.slot->value = std::move(value);
    }
    return {};
}

graph::ModuleTree moduleTree(const Module& root) {
    graph::ModuleTree tree;
    describe(root, {}, tree);
    return tree;
}

}  // namespace sonde::trace
