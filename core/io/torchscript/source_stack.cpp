#include "core/io/torchscript/source_stack.h"

#include <algorithm>

#include "core/trace/tracer.h"

namespace sonde::io::script {

namespace {

thread_local SourceFrame* tFrame = nullptr;

/// "file(line): function" lines, innermost first, as "file:line in function", innermost last.
std::string turned(std::string_view stack) {
    std::vector<std::string> lines;
    while (!stack.empty()) {
        const std::size_t end = std::min(stack.find('\n'), stack.size());
        const std::string_view line = stack.substr(0, end);
        stack.remove_prefix(std::min(end + 1, stack.size()));
        const std::size_t close = line.find("): ");
        const std::size_t open = close == std::string_view::npos ? close : line.rfind('(', close);
        if (open == std::string_view::npos) continue;
        lines.push_back(std::string(line.substr(0, open)) + ':' + std::string(line.substr(open + 1, close - open - 1)) + " in " +
                        std::string(line.substr(close + 3)));
    }
    std::string result;
    for (std::size_t i = lines.size(); i-- > 0;) result += lines[i] + (i ? "\n" : "");
    return result;
}

}  // namespace

/// The thread's calls as a place in the source.
class ScriptSite final : public trace::SourceSite {
  public:
    static const ScriptSite& instance() {
        static const ScriptSite site;
        return site;
    }

    graph::Source source() const override {
        graph::Source source;
        if (!tFrame) return source;
        const SourceRanges::Place place = tFrame->place();
        source.file = place.file;
        source.line = place.line;
        source.stack = place.stack.empty() ? stackOfCalls() : turned(place.stack);
        if (source.file.empty() && tFrame->m_function.unit) {
            source.file = tFrame->m_function.unit->file;
            source.line = tFrame->m_line;
        }
        return source;
    }

  private:
    static std::string stackOfCalls() {
        std::vector<std::string> lines;
        for (const SourceFrame* frame = tFrame; frame && lines.size() < 100; frame = frame->m_outer) {
            const SourceRanges::Place place = frame->place();
            if (!place.stack.empty() || (place.file.empty() && !frame->m_function.unit)) continue;
            const std::string where = place.file.empty() ? frame->m_function.unit->file + ':' + std::to_string(frame->m_line)
                                                         : std::string(place.file) + ':' + std::to_string(place.line);
            lines.push_back(where + " in " + frame->m_function.name);
        }
        std::string result;
        for (std::size_t i = lines.size(); i-- > 0;) result += lines[i] + (i ? "\n" : "");
        return result;
    }
};

SourceFrame::SourceFrame(const FunctionDef& function) : m_function(function), m_outer(tFrame) {
    tFrame = this;
    if (trace::Tracer* tracer = trace::Tracer::active()) tracer->setSourceSite(&ScriptSite::instance());
}
SourceFrame::~SourceFrame() { tFrame = m_outer; }

void SourceFrame::at(const Statement& statement) {
    if (!tFrame) return;
    tFrame->m_statement = tFrame->m_expression = statement.offset;
    tFrame->m_line = statement.line;
}

void SourceFrame::at(const Expression& expression) {
    if (!tFrame) return;
    tFrame->m_expression = expression.offset;
    tFrame->m_line = expression.line;
}

SourceRanges::Place SourceFrame::place() const {
    const SourceUnit* unit = m_function.unit;
    if (!unit || !unit->ranges) return {};
    // "<string>" is the prelude of torch's scripting language.
    const auto isModel = [](const SourceRanges::Place& place) { return !place.file.empty() && place.file != "<string>"; };
    SourceRanges::Place place = unit->ranges->at(m_expression);
    if (!isModel(place)) place = unit->ranges->at(m_statement);
    return isModel(place) ? place : SourceRanges::Place{};
}

SourceRanges::Place SourceFrame::placeOf(const Expression& expression) {
    const SourceUnit* unit = tFrame ? tFrame->m_function.unit : nullptr;
    return unit && unit->ranges ? unit->ranges->at(expression.offset) : SourceRanges::Place{};
}

const FunctionDef* SourceFrame::function() { return tFrame ? &tFrame->m_function : nullptr; }

}  // namespace sonde::io::script
