// One walk through a small transformer block in float64: a value and a weight are edited, and values, explanations,
// gradients and the saved model all tell of the same model. Gradients are checked against differences of its runs.

#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <fstream>

#include "core/session/debug_commands.h"
#include "core/session/gradient/saliency.h"
#include "tests/core/session/edits/edited_file.h"
#include "tests/support/onnx_file.h"

namespace tst_edited_transformer {

using namespace sonde;
using namespace sonde::test::edits;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;
namespace onnx = test::onnxfile;

namespace {

constexpr std::int64_t kTokens = 3, kWidth = 4;
constexpr int kFloat64 = 11;

std::vector<double> numbers(std::int64_t count, int seed) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i)
        values.push_back(std::fmod(0.618034 * static_cast<double>(i + 1) + 0.377 * seed, 1.0) - 0.5);
    return values;
}

std::string stored(const std::string& name, const std::vector<std::int64_t>& dims, int seed) {
    std::int64_t count = 1;
    for (const std::int64_t dim : dims) count *= dim;
    const std::vector<double> values = numbers(count, seed);
    return onnx::rawTensor(name, kFloat64, dims,
                           {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
}

/// y = h + gelu(norm(h) · w1) · w2, where h = x + softmax(q · kᵀ) · v · wo with q, k and v from norm(x).
std::string block() {
    const std::string swap = onnx::intsAttribute("perm", {0, 2, 1}), last = onnx::intAttribute("axis", -1);
    const onnx::Graph graph{
        {{"LayerNormalization", {"x", "scale", "shift"}, {"n"}},
         {"MatMul", {"n", "wq"}, {"q"}},
         {"MatMul", {"n", "wk"}, {"k"}},
         {"MatMul", {"n", "wv"}, {"v"}},
         {"Transpose", {"k"}, {"kt"}, {}, {}, {swap}},
         {"MatMul", {"q", "kt"}, {"scores"}},
         {"Softmax", {"scores"}, {"attention"}, {}, {}, {last}},
         {"MatMul", {"attention", "v"}, {"mixed"}},
         {"MatMul", {"mixed", "wo"}, {"projected"}},
         {"Add", {"x", "projected"}, {"h"}},
         {"LayerNormalization", {"h", "scale", "shift"}, {"hn"}},
         {"MatMul", {"hn", "w1"}, {"wide"}},
         {"Gelu", {"wide"}, {"bent"}},
         {"MatMul", {"bent", "w2"}, {"narrow"}},
         {"Add", {"h", "narrow"}, {"y"}}},
        {onnx::valueInfo("x", kFloat64, {1, kTokens, kWidth})},
        {onnx::valueInfo("y", kFloat64, {1, kTokens, kWidth})},
        {stored("scale", {kWidth}, 1), stored("shift", {kWidth}, 2), stored("wq", {kWidth, kWidth}, 3),
         stored("wk", {kWidth, kWidth}, 4), stored("wv", {kWidth, kWidth}, 5), stored("wo", {kWidth, kWidth}, 6),
         stored("w1", {kWidth, 2 * kWidth}, 7), stored("w2", {2 * kWidth, kWidth}, 8)}};
    return onnx::model(graph, {}, {onnx::opset("", 20)});
}

struct Walk {
    QTemporaryDir folder;
    session::Session session;
    session::DebugCommands commands{session};
    std::vector<Value> inputs{Tensor::of<double>({1, kTokens, kWidth}, numbers(kTokens* kWidth, 0))};

    base::Result<void> open() {
        const std::string path = folder.filePath(QStringLiteral("block.onnx")).toStdString();
        std::ofstream(path, std::ios::binary) << block();
        SONDE_TRY(session.open(path));
        session.runs().giveValues(inputs);
        session.debugger().restart();
        return {};
    }
    QJsonObject answer(const std::string& line) {
        return QJsonDocument::fromJson(QByteArray::fromStdString(commands.answer(line))).object();
    }
    NodeId named(const char* name) const { return session.document()->graph->findNode(name); }
    Tensor valueOf(const char* name) { return session.debugger().value(named(name)).value().tensor(); }

    base::Result<session::gradient::Saliency> gradients(const std::vector<NodeId>& to) {
        std::optional<base::Result<session::gradient::Saliency>> found;
        session.debugger().inspect(
            [&](const session::debug::View& view, const base::WorkContext& work) {
                session::gradient::Request request;
                request.of = {named("y"), {}, {0, 1, 2}};
                request.to = to;
                return session::gradient::saliency(view, request, work);
            },
            [&](base::Result<session::gradient::Saliency> result) { found.emplace(std::move(result)); });
        if (!found) return base::runError("nothing was looked at");
        return std::move(*found);
    }
};

/// y[0, 1, 2] of a model.
double resultOf(const graph::InternalGraph& graph, const std::vector<Value>& inputs) {
    exec::Runner runner(1);
    const exec::Recording recording =
        runner.run(*exec::Plan::make(std::make_shared<const graph::InternalGraph>(graph), {}).value(), inputs);
    return recording.error ? std::nan("") : recording.outputs[0].tensor().toDouble(kWidth + 2);
}

constexpr double kStep = 1e-5;

bool isNearEnough(double value, double expected) {
    return std::abs(value - expected) <= 1e-6 + 1e-5 * std::abs(expected);
}

}  // namespace

class TestEditedTransformer : public QObject {
    Q_OBJECT

  private slots:
    void init() {
        m_walk = std::make_unique<Walk>();
        const auto opened = m_walk->open();
        QVERIFY2(opened.has_value(), opened ? "" : opened.error().text().c_str());
        for (const char* edit : {"attention[0, 1, 0] = 0.25", "attention[0, 2] scale 0.5", "wv[1] scale -2"}) {
            const auto error = make(m_walk->session, edit);
            QVERIFY2(!error, error ? error->c_str() : "");
        }
    }

    void explanationsCountTheEdits() {
        const QJsonObject own = m_walk->answer("why attention[0, 1, 0]");
        QCOMPARE(own.value("value").toDouble(), 0.25);
        QVERIFY(own.value("note").toString().contains("edit"));
        QVERIFY(own.value("recombined").toDouble() != 0.25);
        // What is behind the edits is made of edited values: their terms say so, and give the value.
        for (const char* element :
             {"v[0, 1, 3]", "mixed[0, 1, 3]", "projected[0, 1, 2]", "hn[0, 1, 2]", "y[0, 1, 2]"}) {
            const QJsonObject answer = m_walk->answer(std::string("why ") + element);
            QVERIFY2(!answer.contains("note"), element);
            QVERIFY2(isNearEnough(answer.value("recombined").toDouble(), answer.value("value").toDouble()), element);
        }
        const QJsonArray terms = m_walk->answer("why mixed[0, 1, 3]").value("terms").toArray();
        QCOMPARE(terms.size(), 3);
        const Tensor v = m_walk->valueOf("v"), attention = m_walk->valueOf("attention");
        for (const QJsonValue& term : terms) {
            const int token = term["node"] == "v" ? term["index"][1].toInt() : term["index"][2].toInt();
            const double a = attention.toDouble(kTokens + token), b = v.toDouble(token * kWidth + 3);
            QVERIFY(isNearEnough(term["weight"].toDouble() * term["value"].toDouble(), a * b));
        }
    }

    void theSavedModelGivesTheSameValues() {
        const std::string wrong = compareWritten(m_walk->session, m_walk->folder, m_walk->inputs);
        QVERIFY2(wrong.empty(), wrong.c_str());
    }

    /// The gradient by x is that of the saved model.
    void gradientsAreThoseOfTheEditedModel() {
        const auto found = m_walk->gradients({m_walk->named("x")});
        QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
        const auto edited = session::editedDocument(*m_walk->session.document(), m_walk->session.edits());
        QVERIFY(edited.has_value());
        const Tensor& gradient = found->gradients.front().gradient;
        for (std::int64_t at = 0; at < gradient.numel(); ++at) {
            double sides[2] = {};
            for (const int side : {0, 1}) {
                Tensor moved = m_walk->inputs.front().tensor().clone().value();
                moved.mutableData<double>()[at] += side ? kStep : -kStep;
                sides[side] = resultOf(*(*edited)->graph, {Value(moved)});
            }
            const double expected = (sides[1] - sides[0]) / (2 * kStep);
            QVERIFY2(isNearEnough(gradient.toDouble(at), expected),
                     qPrintable(QString("dx[%1] is %2, not %3").arg(at).arg(gradient.toDouble(at)).arg(expected)));
        }
    }

    /// The gradient by an edited weight, and by the edited value: differences of runs with one edit more.
    void gradientsByWhatIsEdited() {
        const auto found = m_walk->gradients({m_walk->named("wv"), m_walk->named("attention")});
        QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
        const auto differs = [&](const std::string& name, const std::string& index, double gradient) {
            double sides[2] = {};
            for (const int side : {0, 1}) {
                const std::string more = name + '[' + index + ']';
                const auto error =
                    make(m_walk->session, more + " = `" + name + "`[" + index + (side ? "] + 1e-5" : "] - 1e-5"));
                if (error) return QString::fromStdString(*error);
                sides[side] = m_walk->valueOf("y").toDouble(kWidth + 2);
                if (!m_walk->session.edits().undo()) return QStringLiteral("not undone");
            }
            const double expected = (sides[1] - sides[0]) / (2 * kStep);
            if (isNearEnough(gradient, expected)) return QString();
            return QString("d%1[%2] is %3, not %4").arg(name.c_str(), index.c_str()).arg(gradient).arg(expected);
        };
        const Tensor &byWeight = found->gradients[0].gradient, &byValue = found->gradients[1].gradient;
        for (std::int64_t row = 0; row < kWidth; ++row)
            QCOMPARE(differs("wv", std::to_string(row) + ", 3", byWeight.toDouble(row * kWidth + 3)), QString());
        for (std::int64_t token = 0; token < kTokens; ++token)
            QCOMPARE(differs("attention", "0, 1, " + std::to_string(token), byValue.toDouble(kTokens + token)),
                     QString());
    }

  private:
    std::unique_ptr<Walk> m_walk;
};

QTEST_GUILESS_MAIN(TestEditedTransformer)

}  // namespace tst_edited_transformer

#include "tst_edited_transformer.moc"
