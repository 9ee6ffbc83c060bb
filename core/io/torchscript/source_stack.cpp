#include "core/io/torchscript/source_stack.h"

#include <algorithm>
#include <utility>

#include "core/io/torchscript/run_state.h"
#include "core/trace/error.h"
#include "core/trace/tracer.h"

namespace sonde::io::script {

namespace {

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
        lines.push_back(std::string(line.substr(0, open)) + ':' + std::string(line.substr(open + 1, close - open - 1)) +
                        " in " + std::string(line.substr(close + 3)));
    }
    std::string result;
    for (std::size_t i = lines.size(); i-- > 0;) result += lines[i] + (i ? "\n" : "");
    return result;
}

/// Its text says where in the source it was thrown.
class PlacedError final : public trace::TraceError {
  public:
    using TraceError::TraceError;
};

/// One of the texts that listings quote to the letter (robust-trace.md, "Error texts").
bool isText(const trace::TraceError& error) {
    using trace::TraceErrorKind;
    const TraceErrorKind kind = error.kind();
    return kind == TraceErrorKind::IntConversion || kind == TraceErrorKind::Length ||
           kind == TraceErrorKind::Iteration ||
           (kind == TraceErrorKind::ControlFlow && std::string_view(error.what()) == trace::kControlFlowText);
}

/// "<string>" is the prelude of torch's scripting language.
bool isModel(const SourceRanges::Place& place) { return !place.file.empty() && place.file != "<string>"; }

}  // namespace

/// A place in a function of an archive, and the calls that led there. What it is in the model's own source is worked
/// out when somebody looks.
class CallPlace final : public graph::SourceRecord {
  public:
    CallPlace(const FunctionDef& function, std::size_t statement, std::size_t expression, int line,
              std::shared_ptr<const CallPlace> outer)
        : m_source(function.unit ? function.unit->source : nullptr), m_function(function.name), m_statement(statement),
          m_expression(expression), m_line(line), m_outer(std::move(outer)) {}

    bool is(std::size_t statement, std::size_t expression, int line) const {
        return m_statement == statement && m_expression == expression && m_line == line;
    }

    graph::SourcePlace place() const override {
        graph::SourcePlace result;
        const SourceRanges::Place own = ownPlace();
        result.file = own.file;
        result.line = own.line;
        result.stack = own.stack.empty() ? stackOfCalls() : turned(own.stack);
        if (m_source) result.problem = m_source->problem();
        if (result.file.empty() && m_source) {
            result.file = m_source->file();
            result.line = m_line;
        }
        return result;
    }

  private:
    SourceRanges::Place ownPlace() const {
        if (!m_source) return {};
        SourceRanges::Place place = m_source->at(m_expression);
        if (!isModel(place)) place = m_source->at(m_statement);
        return isModel(place) ? place : SourceRanges::Place{};
    }

    std::string stackOfCalls() const {
        std::vector<std::string> lines;
        for (const CallPlace* call = this; call && lines.size() < 100; call = call->m_outer.get()) {
            const SourceRanges::Place place = call->ownPlace();
            if (!place.stack.empty() || (place.file.empty() && !call->m_source)) continue;
            const std::string where = place.file.empty() ? call->m_source->file() + ':' + std::to_string(call->m_line)
                                                         : std::string(place.file) + ':' + std::to_string(place.line);
            lines.push_back(where + " in " + call->m_function);
        }
        std::string result;
        for (std::size_t i = lines.size(); i-- > 0;) result += lines[i] + (i ? "\n" : "");
        return result;
    }

    std::shared_ptr<const SourceMap> m_source;
    std::string m_function;
    std::size_t m_statement;
    std::size_t m_expression;
    int m_line;
    std::shared_ptr<const CallPlace> m_outer;
};

/// The thread's innermost call.
class ScriptSite final : public trace::SourceSite {
  public:
    static const ScriptSite& instance() {
        static const ScriptSite site;
        return site;
    }
    graph::Source source() const override {
        SourceFrame* const frame = runState().frame;
        return frame ? graph::Source(frame->place()) : graph::Source();
    }
};

SourceFrame::SourceFrame(const FunctionDef& function)
    : m_function(function), m_outer(std::exchange(runState().frame, this)) {
    if (trace::Tracer* tracer = trace::Tracer::active()) tracer->recorder().place().site = &ScriptSite::instance();
}
SourceFrame::~SourceFrame() { runState().frame = m_outer; }

void SourceFrame::at(const Statement& statement) {
    SourceFrame* const frame = runState().frame;
    if (!frame) return;
    frame->m_statement = frame->m_expression = statement.offset;
    frame->m_line = statement.line;
}

void SourceFrame::at(const Expression& expression) {
    SourceFrame* const frame = runState().frame;
    if (!frame) return;
    frame->m_expression = expression.offset;
    frame->m_line = expression.line;
}

void SourceFrame::atEnd() {
    SourceFrame* const frame = runState().frame;
    if (!frame) return;
    const std::vector<Statement>& body = frame->m_function.body;
    const auto last = std::find_if(body.rbegin(), body.rend(),
                                   [](const Statement& each) { return each.kind == Statement::Kind::Return; });
    if (last != body.rend()) at(*last);
}

void SourceFrame::rethrow() {
    try {
        throw;
    } catch (const PlacedError&) {
        throw;
    } catch (const trace::TraceError& error) {
        const std::string here = where(), text = error.what();
        const bool saysMore = error.isOwnException() || !error.module().empty();
        if (saysMore || isText(error) || here.empty() || text.find(here) != std::string::npos) throw;
        throw PlacedError(error.kind(), text + " (" + here + ')');
    }
}

const std::shared_ptr<const CallPlace>& SourceFrame::place() {
    // A call stays where it is while those inside of it run, so the places around are made once.
    if (!m_place || !m_place->is(m_statement, m_expression, m_line)) {
        m_place = std::make_shared<const CallPlace>(m_function, m_statement, m_expression, m_line,
                                                    m_outer ? m_outer->place() : nullptr);
    }
    return m_place;
}

std::string SourceFrame::where() {
    SourceFrame* const frame = runState().frame;
    if (!frame) return {};
    const graph::SourcePlace place = frame->place()->place();
    return place.file.empty() ? std::string() : place.file + ':' + std::to_string(place.line);
}

SourceRanges::Place SourceFrame::placeOf(const Expression& expression) {
    const SourceFrame* const frame = runState().frame;
    const SourceUnit* unit = frame ? frame->m_function.unit : nullptr;
    return unit ? unit->source->at(expression.offset) : SourceRanges::Place{};
}

const FunctionDef* SourceFrame::function() { return runState().frame ? &runState().frame->m_function : nullptr; }

}  // namespace sonde::io::script
