#include <array>
#include <cctype>
#include <fmt/format.h>
#include <set>

#include "core/analysis/findings/checker.h"
#include "core/base/unicode.h"

namespace sonde::analysis {

namespace {

constexpr std::size_t kMaxScanned = 1 << 16, kMaxQuoted = 80;

bool isWordByte(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-' || c == '+';
}

std::string_view wordFrom(std::string_view text, std::size_t begin) {
    std::size_t end = begin;
    while (end < text.size() && static_cast<unsigned char>(text[end]) > ' ' && text[end] != '"' && text[end] != '\'' &&
           text[end] != ',' && text[end] != ';' && text[end] != ')')
        ++end;
    return base::utf8Prefix(text.substr(begin, end - begin), kMaxQuoted);
}

/// A step of a path of modules: "layer1", "blocks.0". Files have an ending, lines a number behind a colon.
bool isModuleStep(std::string_view step) {
    for (std::size_t i = 0; i < step.size(); ++i) {
        const auto c = static_cast<unsigned char>(step[i]);
        const bool isIndex =
            c == '.' && i + 1 < step.size() && std::isdigit(static_cast<unsigned char>(step[i + 1])) != 0;
        if (std::isalnum(c) == 0 && c != '_' && !isIndex) return false;
    }
    return !step.empty();
}

/// What exporters call an operation: the modules that it is in, then the operator: "/home/Relu_1".
bool isModulePath(const graph::Expr& expr, std::string_view name) {
    const std::string_view operation = expr.op.name.empty() ? std::string_view(expr.target) : expr.op.name;
    const std::size_t last = name.rfind('/');
    if (operation.empty() || last == std::string_view::npos || !name.substr(last + 1).starts_with(operation))
        return false;
    for (std::size_t at = 0; at < name.size();) {
        if (name[at] == '/') ++at;
        const std::size_t end = std::min(name.find('/', at), name.size());
        if (!isModuleStep(name.substr(at, end - at))) return false;
        at = end;
    }
    return true;
}

/// What shows a path of somebody's machine: folders of users, and drives.
std::string_view absolutePath(std::string_view text) {
    constexpr std::array<std::string_view, 11> kFolders{"/home/",    "/Users/", "/root/",     "/mnt/",
                                                        "/tmp/",     "/opt/",   "/var/",      "/data/",
                                                        "/private/", "file://", "/workspace/"};
    for (const std::string_view folder : kFolders)
        for (std::size_t at = text.find(folder); at != std::string_view::npos; at = text.find(folder, at + 1)) {
            // "https://host/home/…" and "model/home/…" are no paths of a machine.
            const bool isInside = at > 0 && (isWordByte(text[at - 1]) || text[at - 1] == '/');
            if (!isInside && wordFrom(text, at).size() > folder.size()) return wordFrom(text, at);
        }
    // Shares of Windows: two backslashes, the server, the share.
    for (std::size_t at = text.find("\\\\"); at != std::string_view::npos; at = text.find("\\\\", at + 1)) {
        std::size_t end = at + 2;
        while (end < text.size() && isWordByte(text[end])) ++end;
        const bool isInside = at > 0 && (isWordByte(text[at - 1]) || text[at - 1] == '\\');
        const bool hasShare = end > at + 3 && end + 1 < text.size() && text[end] == '\\' && isWordByte(text[end + 1]);
        if (!isInside && hasShare) return wordFrom(text, at);
    }
    for (std::size_t i = 0; i + 3 < text.size(); ++i) {
        const bool isDrive = std::isalpha(static_cast<unsigned char>(text[i])) != 0 && text[i + 1] == ':' &&
                             (text[i + 2] == '\\' || text[i + 2] == '/') && isWordByte(text[i + 3]);
        if (isDrive && (i == 0 || !isWordByte(text[i - 1]))) return wordFrom(text, i);
    }
    return {};
}

/// Addresses have letters of every alphabet (RFC 6531): bytes above 127 are of such.
bool isAddressByte(char c) { return isWordByte(c) || static_cast<unsigned char>(c) >= 0x80; }

/// "git@host.org:path" and "ssh://git@host.org/path": who logs in at a server is no address.
bool isLogin(std::string_view text, std::size_t begin, std::size_t end) {
    const bool isPath = end + 1 < text.size() && text[end] == ':' &&
                        (isWordByte(text[end + 1]) || text[end + 1] == '/' || text[end + 1] == '~');
    return isPath || text.substr(0, begin).ends_with("://");
}

std::string_view mailAddress(std::string_view text) {
    for (std::size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
        std::size_t begin = at, end = at + 1;
        while (begin > 0 && isAddressByte(text[begin - 1])) --begin;
        while (end < text.size() && isAddressByte(text[end])) ++end;
        const std::string_view host = text.substr(at + 1, end - at - 1);
        const std::size_t dot = host.rfind('.');
        const bool hasDomain = dot != std::string_view::npos && dot > 0 && host.size() - dot > 2 &&
                               isAddressByte(host[dot + 1]) &&
                               std::isdigit(static_cast<unsigned char>(host[dot + 1])) == 0;
        if (begin < at && hasDomain && !isLogin(text, begin, end))
            return base::utf8Prefix(text.substr(begin, end - begin), kMaxQuoted);
    }
    return {};
}

Finding privateFinding(const std::string& where, std::string_view what, std::string_view quoted) {
    return {{},
            base::Severity::Warning,
            Confidence::Medium,
            {},
            {where},
            fmt::format("{} has {}, '{}': the file reveals the machine or the person that it comes from", where, what,
                        quoted),
            "remove it from the file before it is given away"};
}

void findPrivate(const CheckedModel& model, std::vector<Finding>& findings) {
    // What is recorded for operations tells each path and address once: a trace repeats them for every operation.
    std::set<std::string, std::less<>> known;
    for (const FileText& each : model.texts) {
        const auto take = [&](std::string_view what, std::string_view quoted) {
            if (quoted.empty() || (each.isOneOfMany && !known.emplace(quoted).second)) return;
            findings.push_back(privateFinding(each.where, what, quoted));
        };
        const std::string_view text = std::string_view(each.text).substr(0, kMaxScanned);
        take("an absolute path", absolutePath(text));
        take("a mail address", mailAddress(text));
    }
    for (const graph::ExprId id : model.graph.recursiveOrder(model.graph.mainId())) {
        const graph::Expr& expr = model.graph.expr(id);
        if (expr.outputs.empty()) continue;
        const auto scanOnce = [&](std::string_view what, std::string_view text) {
            const std::string_view path = absolutePath(text.substr(0, kMaxScanned));
            if (path.empty() || !known.emplace(path).second) return;
            Finding finding = privateFinding(std::string(what) + " " + model.graph.node(expr.outputs.front()).name,
                                             "an absolute path", path);
            finding.others.clear();
            finding.nodes = {expr.outputs.front()};
            findings.push_back(std::move(finding));
        };
        for (const std::string_view name :
             {std::string_view(expr.name), std::string_view(model.graph.node(expr.outputs.front()).name)})
            if (!isModulePath(expr, name)) scanOnce("the name of", name);
        if (known.size() >= kMaxScanned || expr.source.empty() || model.work.cancelled()) continue;
        const graph::SourcePlace place = expr.source.place();
        scanOnce("the source recorded for", place.file);
        scanOnce("the stack recorded for", place.stack);
    }
}

}  // namespace

FindingChecker privateMetadataChecker() {
    return {"private-metadata", FindingNeed::File,
            "Absolute paths and mail addresses in metadata, doc strings, names and recorded sources", findPrivate};
}

}  // namespace sonde::analysis
