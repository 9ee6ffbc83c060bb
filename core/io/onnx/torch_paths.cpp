#include "core/io/onnx/torch_paths.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "core/base/number_text.h"

namespace sonde::io::onnx {

namespace {

std::vector<std::string_view> components(std::string_view path) {
    std::vector<std::string_view> result;
    while (!path.empty()) {
        const std::size_t dot = path.find('.');
        result.push_back(path.substr(0, dot));
        path = dot == std::string_view::npos ? std::string_view() : path.substr(dot + 1);
    }
    return result;
}

std::string joined(std::string_view parent, std::string_view tail) {
    return parent.empty() ? std::string(tail) : std::string(parent) + "." + std::string(tail);
}

/// "relu_12" → ("relu", 12); number 0 if there is none.
std::pair<std::string_view, int> withoutNumber(std::string_view segment) {
    const std::size_t bar = segment.rfind('_');
    if (bar == std::string_view::npos || bar == 0 || bar + 1 == segment.size() || segment[bar + 1] == '0')
        return {segment, 0};
    const auto number = base::parseNumber<int>(segment.substr(bar + 1));
    if (!number) return {segment, 0};
    return {segment.substr(0, bar), *number};
}

std::string keyOf(std::size_t parent, std::string_view segment) {
    return std::to_string(parent) + "/" + std::string(segment);
}

}  // namespace

std::vector<std::string> scopeSegments(std::string_view path) {
    std::vector<std::string> segments;
    if (path.starts_with('/')) path.remove_prefix(1);
    for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
        if (slash > 0) segments.emplace_back(path.substr(0, slash));
        path.remove_prefix(slash + 1);
    }
    return segments;
}

TorchPaths::TorchPaths(const std::set<std::string>& parameterModules)
    : m_parameterModules(parameterModules), m_modules(1) {}

void TorchPaths::add(std::string_view path, const std::vector<std::string>& evidence) {
    std::vector<std::string> segments = scopeSegments(path);
    // Each level repeats the path of those above it: a name of a file may have more than memory holds.
    segments.resize(std::min(segments.size(), kMaxLevels));
    m_seen.push_back({m_seen.size(), std::move(segments), evidence});
}

void TorchPaths::resolve() {
    // Level by level, so that a module's parent is known when its own name is judged.
    std::vector<std::size_t> parents(m_seen.size(), 0);
    std::size_t deepest = 0;
    for (const Seen& seen : m_seen) deepest = std::max(deepest, seen.segments.size());
    for (std::size_t depth = 0; depth < deepest; ++depth) collectSegments(depth, parents);
    findQualnames();
    countCalls();
}

/// Decides for every segment of one level whether its number counts calls or belongs to the module's name.
void TorchPaths::collectSegments(std::size_t depth, std::vector<std::size_t>& parents) {
    std::unordered_set<std::string> present;
    std::vector<const std::string*> keys(m_seen.size(), nullptr);  // into the set
    for (const Seen& seen : m_seen)
        if (seen.segments.size() > depth)
            keys[seen.position] = &*present.insert(keyOf(parents[seen.position], seen.segments[depth])).first;
    for (Seen& seen : m_seen) {
        if (seen.segments.size() <= depth) continue;
        const std::size_t parent = parents[seen.position];
        const std::string& raw = seen.segments[depth];
        const std::string& key = *keys[seen.position];
        if (const auto known = m_bySegment.find(key); known != m_bySegment.end()) {
            parents[seen.position] = known->second.module;
            seen.resolved.push_back(&known->second);
            continue;
        }
        auto [base, number] = withoutNumber(raw);
        const bool counted =
            number > 0 && present.contains(keyOf(parent, base)) &&
            (number == 1 || present.contains(keyOf(parent, std::string(base) + "_" + std::to_string(number - 1))));
        // A parameter path that ends in the whole segment shows that the number is part of the name.
        const bool named =
            counted &&
            std::any_of(m_parameterModules.begin(), m_parameterModules.end(), [&raw](const std::string& path) {
                return path == raw ||
                       (path.size() > raw.size() && path.ends_with(raw) && path[path.size() - raw.size() - 1] == '.');
            });
        if (!counted || named) {
            base = raw;
            number = 0;
        }
        const std::string baseKey = keyOf(parent, base);
        auto found = m_bySegment.find(baseKey);
        if (found == m_bySegment.end()) {
            Module module;
            module.parent = parent;
            module.segment = base;
            const std::string prefix = m_modules[parent].segment + ".";
            module.tail =
                parent != 0 && base.starts_with(prefix) ? std::string(base.substr(prefix.size())) : std::string(base);
            m_modules[parent].children.push_back(m_modules.size());
            found = m_bySegment.emplace(baseKey, Resolved{m_modules.size(), 0}).first;
            m_modules.push_back(std::move(module));
        }
        const std::size_t index = found->second.module;
        Resolved& resolved = m_bySegment[key];
        resolved = {index, number};
        seen.resolved.push_back(&resolved);
        parents[seen.position] = index;
    }
}

void TorchPaths::findQualnames() {
    for (const Seen& seen : m_seen)
        for (const Resolved* resolved : seen.resolved)
            m_modules[resolved->module].evidence.insert(seen.evidence.begin(), seen.evidence.end());
    // Parents precede their children.
    for (std::size_t i = 1; i < m_modules.size(); ++i) m_modules[i].qualname = qualnameOf(m_modules[i]);
}

/// The parent's qualname and the tail, with the uncalled containers in between that parameter paths show.
std::string TorchPaths::qualnameOf(const Module& module) const {
    const std::string& parent = m_modules[module.parent].qualname;
    const std::string direct = joined(parent, module.tail);
    const std::vector<std::string_view> tail = components(module.tail);
    std::string withContainers;
    for (const std::string& path : module.evidence) {
        if (path == direct || path.starts_with(direct + ".")) return direct;
        if (!parent.empty() && !path.starts_with(parent + ".")) continue;
        const std::vector<std::string_view> rest =
            components(std::string_view(path).substr(parent.empty() ? 0 : parent.size() + 1));
        const auto found = std::search(rest.begin(), rest.end(), tail.begin(), tail.end());
        if (found == rest.end() || !withContainers.empty()) continue;
        const std::string_view last = *(found + static_cast<std::ptrdiff_t>(tail.size()) - 1);
        withContainers = path.substr(0, static_cast<std::size_t>(last.data() + last.size() - path.data()));
    }
    return withContainers.empty() ? direct : withContainers;
}

void TorchPaths::countCalls() {
    m_firstUse.resize(m_modules.size());
    for (const auto& [key, resolved] : m_bySegment) {
        Module& module = m_modules[resolved.module];
        module.calls = std::max(module.calls, resolved.number + 1);
    }
    for (const Seen& seen : m_seen) {
        std::size_t module = 0;
        int number = 0;
        for (const Resolved* resolved : seen.resolved) {
            module = resolved->module;
            number = resolved->number;
            m_firstUse[module].emplace(number, seen.position);
        }
        m_modules[module].own.emplace_back(seen.position, number);
    }
    // A container without operations of its own is called as often as each of its children.
    for (std::size_t i = m_modules.size(); i-- > 1;) {
        Module& module = m_modules[i];
        if (!module.own.empty() || module.children.empty()) continue;
        int least = m_modules[module.children.front()].calls;
        int most = least;
        for (std::size_t child : module.children) {
            least = std::min(least, m_modules[child].calls);
            most = std::max(most, m_modules[child].calls);
        }
        if (least == most) module.calls = std::max(module.calls, least);
    }
}

/// Which call of its parent the child's call belongs to.
int TorchPaths::callOfParent(std::size_t child, int number, int spokenNumber) const {
    const Module& module = m_modules[child];
    const Module& parent = m_modules[module.parent];
    if (module.parent == 0 || parent.calls <= 1) return 0;
    if (spokenNumber > 0) return spokenNumber;
    if (module.calls % parent.calls == 0) return number / (module.calls / parent.calls);
    // Otherwise the parent's next operation after the child's first tells.
    const auto first = m_firstUse[child].find(number);
    if (first == m_firstUse[child].end() || parent.own.empty()) return 0;
    const auto next =
        std::lower_bound(parent.own.begin(), parent.own.end(), std::pair<std::size_t, int>(first->second, 0));
    return next == parent.own.end() ? parent.own.back().second : next->second;
}

std::vector<TorchPaths::Call> TorchPaths::callsOf(std::string_view path) const {
    std::vector<Call> calls;
    std::size_t module = 0;
    for (const std::string& segment : scopeSegments(path)) {
        const auto found = m_bySegment.find(keyOf(module, segment));
        if (found == m_bySegment.end()) break;
        module = found->second.module;
        calls.push_back({module, found->second.number});
    }
    // From the inside out: only the innermost part of a path is counted up.
    for (std::size_t i = calls.size(); i-- > 1;) {
        calls[i - 1].number = callOfParent(calls[i].module, calls[i].number, calls[i - 1].number);
    }
    return calls;
}

}  // namespace sonde::io::onnx
