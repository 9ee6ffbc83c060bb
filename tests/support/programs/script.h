#pragma once

#include <filesystem>
#include <map>
#include <sstream>

#include "tests/support/programs/program.h"
#include "tests/support/script_archive.h"

/// Programs as TorchScript archives, in the form that torch.jit.save gives them.
namespace sonde::test::programs {

class Script {
  public:
    /// Whether loops run as often as a tensor says, so that a trace has them as loops, or as often as the code says.
    explicit Script(bool loopsByValue) : m_loopsByValue(loopsByValue) {}

    void write(const Program& program, const std::filesystem::path& path) {
        std::vector<std::string> inputs;
        for (std::size_t i = 0; i < program.inputs.size(); ++i) inputs.push_back("in" + std::to_string(i));
        m_hasCounts = m_loopsByValue;
        m_seed = program.seed;
        m_body.str({});
        if (m_hasCounts) {
            for (const char* count : {"2", "3"})
                line("    ",
                     std::string("n") + count + " = int(torch.max(torch.add(torch.zeros_like(in0), " + count + ")))");
        }
        statements(program.statements, "    ");
        std::string results;
        for (const std::string& result : program.results) results += (results.empty() ? "" : ", ") + result;
        line("    ", "return " + (program.results.size() == 1 ? results : '(' + results + ')'));
        const std::string type = program.results.size() == 1 ? "Tensor" : tupleOf(program.results.size());
        const std::string body = m_body.str();
        std::string attributes, children;
        for (const auto& [name, child] : m_children) {
            attributes += pickle::text(name) + pickle::instance("__torch__", child, m_states[name]);
            children += "  " + name + " : __torch__." + child + '\n';
        }
        writeScript(path, m_classes + classOf("M", children, typed(inputs, "Tensor"), type, body), attributes);
    }

  private:
    void line(const std::string& margin, const std::string& text) { m_body << margin << text << '\n'; }

    static std::string tupleOf(std::size_t count) {
        std::string types;
        for (std::size_t i = 0; i < count; ++i) types += i ? ", Tensor" : "Tensor";
        return "Tuple[" + types + ']';
    }

    static std::string classOf(const std::string& name, const std::string& attributes,
                               const std::vector<std::string>& parameters, const std::string& type,
                               const std::string& body) {
        std::string text = "class " + name + "(Module):\n  __parameters__ = []\n  __buffers__ = []\n" + attributes +
                           "  def forward(self: __torch__." + name;
        for (const std::string& parameter : parameters) text += ",\n    " + parameter;
        return text + ") -> " + type + ":\n" + body;
    }

    void statements(const std::vector<Statement>& list, const std::string& margin) {
        for (const Statement& each : list) statement(each, margin);
    }

    static std::string decides(const Statement& statement) {
        return "torch.gt(torch.sum(" + statement.operands.at(0) + "), " + number(*statement.number) + ')';
    }

    void statement(const Statement& each, const std::string& margin) {
        const std::string& op = each.operation;
        const std::string result = each.result.empty() ? "_" + std::to_string(m_unnamed++) : each.result;
        if (op == "for") return loop(each, margin);
        if (op == "if" || op == "cond") return branch(each, margin);
        if (op == "call") return call(each, margin);
        if (op == "pick") {
            line(margin, "l_" + result + " = annotate(List[Tensor], [" + each.operands.at(0) + ", " +
                             each.operands.at(1) + "])");
            return line(margin, result + " = l_" + result + "[int(torch.logical_not(" + decides(each) + "))]");
        }
        if (op == "require") {
            line(margin, "if bool(" + decides(each) + "):");
            line(margin, "  pass");
            line(margin, "else:");
            line(margin, "  ops.prim.RaiseException(\"the sum is too small\")");
            return line(margin, result + " = torch.clone(" + each.operands.at(0) + ')');
        }
        line(margin, result + " = " + expression(each));
    }

    /// The parameters are names for what they are called with.
    void function(const Function& inside, const std::vector<std::string>& operands, const std::string& result,
                  const std::string& margin) {
        for (std::size_t i = 0; i < inside.parameters.size(); ++i)
            line(margin, inside.parameters[i] + " = " + operands.at(i));
        statements(inside.statements, margin);
        if (!result.empty()) line(margin, result + " = " + inside.result);
    }

    void branch(const Statement& each, const std::string& margin) {
        line(margin, "if bool(" + decides(each) + "):");
        function(each.functions.at(0), each.operands, each.result, margin + "  ");
        line(margin, "else:");
        function(each.functions.at(1), each.operands, each.result, margin + "  ");
    }

    void loop(const Statement& each, const std::string& margin) {
        const std::string count = std::to_string(each.integers.at(0)), id = std::to_string(m_unnamed++);
        const std::string trips = (m_hasCounts ? "n" : "") + count;
        if (m_hasCounts && m_unnamed % 2 == 0) {
            line(margin, "i_" + id + " = 0");
            line(margin, "k_" + id + " = torch.lt(i_" + id + ", " + trips + ')');
            line(margin, "while k_" + id + ':');
            statements(each.functions.at(0).statements, margin + "  ");
            line(margin + "  ", "i_" + id + " = torch.add(i_" + id + ", 1)");
            line(margin + "  ", "k_" + id + " = torch.lt(i_" + id + ", " + trips + ')');
            return;
        }
        line(margin, "for i_" + id + " in range(" + trips + "):");
        statements(each.functions.at(0).statements, margin + "  ");
    }

    /// How a module gets its tensors, and how its result comes back.
    enum class Passing : std::uint8_t {
        Plain,     ///< each tensor is an argument, the result is returned
        List,      ///< in one list
        Tuple,     ///< in one tuple, and back in a tuple beside the first of them
        Appended,  ///< in one list, at whose end the result is then
        Replaced,  ///< in a list inside of a dict; the result takes the place of the first one
        Kept,      ///< the module keeps the result as an attribute, which its caller reads
    };
    static constexpr int kPassings = 6;

    /// A module of its own.
    void call(const Statement& each, const std::string& margin) {
        const Function& inside = each.functions.front();
        const std::string name = "call_" + each.result, type = "C_" + each.result, child = "(self." + name + ')';
        const auto passing = static_cast<Passing>((m_seed + m_calls++) % kPassings);
        const bool isPlain = passing == Passing::Plain || passing == Passing::Kept;
        Script inner(false);
        inner.m_unnamed = m_unnamed;
        inner.m_calls = m_calls;
        inner.m_seed = m_seed;
        const std::string given = passing == Passing::Replaced ? "given[\"all\"]" : "given";
        for (std::size_t i = 0; i < inside.parameters.size() && !isPlain; ++i)
            inner.line("    ", inside.parameters[i] + " = " + given + '[' + std::to_string(i) + ']');
        inner.statements(inside.statements, "    ");
        const std::string effect = "_" + std::to_string(inner.m_unnamed++);
        if (passing == Passing::Appended) inner.line("    ", effect + " = torch.append(given, " + inside.result + ')');
        if (passing == Passing::Replaced)
            inner.line("    ", effect + " = torch._set_item(" + given + ", 0, " + inside.result + ')');
        if (passing == Passing::Kept) inner.line("    ", "self.kept = " + inside.result);
        const bool returnsBoth = passing == Passing::Tuple;
        inner.line("    ", "return " + (returnsBoth ? '(' + inside.result + ", given[0])" : inside.result));
        m_unnamed = inner.m_unnamed;
        m_calls = inner.m_calls;

        std::string children, state;
        m_classes += inner.m_classes;
        for (const auto& [below, belowType] : inner.m_children) {
            children += "  " + below + " : __torch__." + belowType + '\n';
            state += pickle::text(below) + pickle::instance("__torch__", belowType, inner.m_states[below]);
        }
        if (passing == Passing::Kept) {
            children += "  kept : Optional[Tensor]\n";
            state += pickle::text("kept") + 'N';
        }
        std::string types;
        for (std::size_t i = 0; i < inside.parameters.size(); ++i) types += i ? ", Tensor" : "Tensor";
        const std::string parameterType = passing == Passing::Tuple      ? "Tuple[" + types + ']'
                                          : passing == Passing::Replaced ? "Dict[str, List[Tensor]]"
                                                                         : "List[Tensor]";
        m_classes +=
            classOf(type, children, isPlain ? typed(inside.parameters, "Tensor") : typed({"given"}, parameterType),
                    returnsBoth ? "Tuple[Tensor, Tensor]" : "Tensor", inner.m_body.str());
        m_children[name] = type;
        m_states[name] = state;

        std::string operands;
        for (const std::string& operand : each.operands) operands += (operands.empty() ? "" : ", ") + operand;
        const std::string call = child + ".forward(", list = "l_" + each.result;
        const std::string unused = "_" + std::to_string(m_unnamed++);
        switch (passing) {
            case Passing::Plain: return line(margin, each.result + " = " + call + operands + ", )");
            case Passing::List:
                line(margin, list + " = annotate(List[Tensor], [" + operands + "])");
                return line(margin, each.result + " = " + call + list + ", )");
            case Passing::Tuple:
                return line(margin, each.result + ", " + unused + ", = " + call + '(' + operands +
                                        (each.operands.size() == 1 ? ",), )" : "), )"));
            case Passing::Appended:
                line(margin, list + " = annotate(List[Tensor], [" + operands + "])");
                line(margin, unused + " = " + call + list + ", )");
                return line(margin, each.result + " = " + list + "[-1]");
            case Passing::Replaced:
                line(margin, list + " = annotate(List[Tensor], [" + operands + "])");
                line(margin, unused + " = " + call + "{\"all\": " + list + "}, )");
                return line(margin, each.result + " = " + list + "[0]");
            case Passing::Kept:
                line(margin, unused + " = " + call + operands + ", )");
                return line(margin, each.result + " = unchecked_cast(Tensor, " + child + ".kept)");
        }
    }

    static std::vector<std::string> typed(const std::vector<std::string>& names, const std::string& type) {
        std::vector<std::string> parameters;
        for (const std::string& name : names) parameters.push_back(name + ": " + type);
        return parameters;
    }

    static std::string number(double value) {
        std::ostringstream out;
        out << value;
        const std::string text = out.str();
        return text.find_first_of(".e") == std::string::npos ? text + '.' : text;
    }

    static std::string part(const Statement& each) {
        std::string x = each.operands.at(0);
        std::int64_t d = 0;
        for (const IndexPart& part : each.index) {
            if (part.kind == IndexPart::Kind::Ellipsis) {
                d = -1;  // one part at most is behind it
            } else if (part.kind == IndexPart::Kind::Number) {
                x = "torch.select(" + x + ", " + std::to_string(d) + ", " + std::to_string(part.start) + ')';
            } else {
                x = "torch.slice(" + x + ", " + std::to_string(d) + ", " + std::to_string(part.start) + ", " +
                    std::to_string(part.stop) + ", " + std::to_string(part.step) + ')';
                ++d;
            }
        }
        return x == each.operands.at(0) ? "torch.detach(" + x + ')' : x;  // another tensor on the same memory
    }

    static std::string expression(const Statement& each) {
        const std::string& op = each.operation;
        const std::string& x = each.operands.at(0);
        const auto other = [&] { return each.operands.at(1); };
        const auto torch = [](const std::string& name, const std::string& arguments) {
            return "torch." + name + '(' + arguments + ')';
        };
        std::string integers;
        for (const std::int64_t integer : each.integers)
            integers += (integers.empty() ? "" : ", ") + std::to_string(integer);
        const std::string value = each.number ? number(*each.number) : "";
        if (op == "alias") return x;
        if (op == "getitem") return part(each);
        if (op == "setitem") {
            return each.operands.size() > 1 ? torch("copy_", part(each) + ", " + other())
                                            : torch("fill_", part(each) + ", " + value);
        }
        if (op == "setmask") return torch("masked_fill_", x + ", " + torch("gt", x + ", 0") + ", " + value);
        if (op == "masked_fill_") return torch(op, x + ", " + torch("gt", other() + ", 0") + ", " + value);
        if (op == "where") return torch(op, torch("gt", x + ", 0") + ", " + x + ", " + other());
        if (op == "view" || op == "reshape" || op == "permute" || op == "expand" || op == "sum")
            return torch(op, x + ", [" + integers + ']');
        // Numbers of c10::ScalarType.
        if (op == "to")
            return torch("clone",
                         torch(op, x + ", " + std::to_string(each.integers.at(0) + 4) + ", False, False, None"));
        if (op == "cat") return torch(op, '[' + x + ", " + other() + "], " + integers);
        if (op == "chunk" || op == "split") {
            return torch(op,
                         x + ", " + std::to_string(each.integers.at(0)) + ", " + std::to_string(each.integers.at(1))) +
                   '[' + std::to_string(each.integers.at(2)) + ']';
        }
        if (op == "unbind")
            return torch(op, x + ", " + std::to_string(each.integers.at(0))) + '[' +
                   std::to_string(each.integers.at(1)) + ']';
        if (op == "clamp_") return torch(op, x + ", -3., 3.");
        std::string arguments = x;
        if (each.operands.size() > 1) arguments += ", " + other();
        if (!integers.empty()) arguments += ", " + integers;
        if (each.number && each.operands.size() == 1) arguments += ", " + value;
        return torch(op, arguments);
    }

    bool m_loopsByValue;
    bool m_hasCounts = false;
    int m_unnamed = 0;
    std::uint64_t m_seed = 0, m_calls = 0;  ///< decide how modules get their tensors
    std::ostringstream m_body;
    std::string m_classes;
    std::map<std::string, std::string> m_children;  ///< attribute and class
    std::map<std::string, std::string> m_states;    ///< what is in them
};

}  // namespace sonde::test::programs
