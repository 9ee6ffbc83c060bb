// Gradients against PyTorch: every line of tests/data/gradient/cases.jsonl is a call and what torch.autograd gave for
// it, at kinks, ties, borders and zeros too. Tolerance 1e-7 in float64 and 2e-5 in float32, absolute and relative.

#include <QFile>
#include <QtTest>

#include "core/ops/registry/registry.h"
#include "tests/core/session/gradient/small_net.h"
#include "tests/support/json_values.h"

namespace tst_gradient_pytorch {

using namespace sonde;
using namespace sonde::test::gradients;
using graph::Argument;
using graph::NodeId;
using tensor::Tensor;
using tensor::Value;

namespace {

/// A call of cases.jsonl as a graph whose output is Σ g · result.
class CallNet {
  public:
    explicit CallNet(const QJsonObject& call) : m_call(call) {
        QString name = call["op"].toString();
        m_isOnnx = name.startsWith("onnx::");
        const qsizetype colon = name.indexOf("::");
        const QString domain = m_isOnnx ? QString() : colon < 0 ? QStringLiteral("aten") : name.left(colon);
        if (colon >= 0) name = name.mid(colon + 2);
        m_key = {domain.toStdString(), name.toStdString(), call["version"].toInt()};
        m_op = ops::Registry::all().find(m_key.domain, m_key.name, m_key.version);
    }
    bool isKnown() const { return m_op != nullptr; }
    const std::vector<NodeId>& inputs() const { return m_inputs; }
    const std::vector<Value>& values() const { return m_net.inputs; }

    std::shared_ptr<const document::Document> make() {
        std::vector<Argument> arguments;
        for (const QJsonValue& given : m_call["in"].toArray()) arguments.push_back(argument(given));
        const QJsonObject keywords = m_call["kw"].toObject();
        for (std::size_t i = arguments.size(); i < m_op->parameters.size() && !m_isOnnx; ++i) {
            const QString key = QString::fromStdString(std::string(m_op->parameters[i].name));
            if (keywords.contains(key)) arguments.push_back(Argument::of(test::valueIn(keywords[key])));
            else arguments.push_back(Argument::of(m_op->parameters[i].fallback.value_or(Value())));
        }
        const QJsonArray given = m_call["g"].toArray();
        const auto outputs = m_isOnnx ? static_cast<std::size_t>(given.size()) : m_op->outputs.size();
        const std::vector<NodeId> results =
            m_net.call(m_key, arguments, test::attributesIn(m_call["attr"].toObject()), outputs);
        NodeId loss;
        for (int i = 0; i < given.size(); ++i) {
            if (given[i].isNull()) continue;
            const NodeId g = constant(test::tensorIn(given[i].toObject()));
            const NodeId product = onnx("Mul", {results[static_cast<std::size_t>(i)], g});
            const NodeId sum = onnx("ReduceSum", {product}, {{"keepdims", std::int64_t{0}}});
            loss = loss.valid() ? onnx("Add", {loss, sum}) : sum;
        }
        return m_net.finish(loss);
    }

  private:
    NodeId onnx(const char* op, const std::vector<NodeId>& inputs, tensor::Attributes attributes = {}) {
        std::vector<Argument> arguments;
        for (const NodeId input : inputs) arguments.push_back(Argument::of(input));
        return m_net.call({"", op, 13}, std::move(arguments), std::move(attributes)).front();
    }
    NodeId constant(const Tensor& tensor) {
        graph::Expr expr;
        expr.kind = graph::ExprKind::Constant;
        expr.body = m_net.graph.mainId();
        expr.scope = m_net.graph.rootScope();
        const std::string name = "k" + std::to_string(m_net.graph.exprCount());
        const NodeId node = m_net.graph.expr(m_net.graph.addExpr(std::move(expr), std::span(&name, 1))).outputs.front();
        m_net.graph.setType(node, tensor::TypeInfo::of(Value(tensor)));
        m_net.graph.setConstant(node, Value(tensor));
        return node;
    }
    /// Floating-point tensors are inputs of the graph.
    Argument argument(const QJsonValue& json) {
        if (json.isArray()) {
            bool hasTensors = false;
            std::vector<Argument> items;
            for (const QJsonValue& item : json.toArray()) {
                hasTensors = hasTensors || item.toObject().contains("t");
                items.push_back(argument(item));
            }
            return hasTensors ? Argument::container(Argument::Kind::List, std::move(items))
                              : Argument::of(test::valueIn(json));
        }
        if (json.isNull() && m_isOnnx) return Argument::omitted();
        if (!json.toObject().contains("t")) return Argument::of(test::valueIn(json));
        const Tensor tensor = test::tensorIn(json.toObject());
        if (!tensor::isFloating(tensor.dtype())) return Argument::of(constant(tensor));
        m_inputs.push_back(m_net.input("x" + std::to_string(m_inputs.size()), tensor));
        return Argument::of(m_inputs.back());
    }

    QJsonObject m_call;
    graph::OpKey m_key;
    const ops::OpDef* m_op = nullptr;
    bool m_isOnnx = false;
    SmallNet m_net;
    std::vector<NodeId> m_inputs;
};

}  // namespace

class TestGradientPytorch : public QObject {
    Q_OBJECT

  private slots:
    void gradientsAreThoseOfPyTorch_data() {
        QTest::addColumn<QByteArray>("line");
        QFile file(QStringLiteral(SONDE_TEST_DATA "/gradient/cases.jsonl"));
        QVERIFY(file.open(QIODevice::ReadOnly));
        int number = 0;
        for (const QByteArray& line : file.readAll().split('\n'))
            if (!line.isEmpty())
                QTest::addRow("%d %s", ++number, qPrintable(QJsonDocument::fromJson(line)["op"].toString())) << line;
    }
    void gradientsAreThoseOfPyTorch() {
        QFETCH(QByteArray, line);
        const QJsonObject call = QJsonDocument::fromJson(line).object();
        CallNet net(call);
        QVERIFY2(net.isKnown(), "the operator is not known");
        const auto document = net.make();
        session::gradient::Request request;
        request.to = net.inputs();
        const auto found = differentiate(document, net.values(), request);
        QVERIFY2(found.has_value(), found ? "" : found.error().text().c_str());
        const QJsonArray wanted = call["grad"].toArray();
        QCOMPARE(found->gradients.size(), static_cast<std::size_t>(wanted.size()));
        for (int i = 0; i < wanted.size(); ++i) {
            const Value due = test::valueIn(wanted[i]);
            const double tolerance = due.tensor().dtype() == tensor::DType::Float64 ? 1e-7 : 2e-5;
            const QString text =
                test::difference(Value(found->gradients[static_cast<std::size_t>(i)].gradient), due, tolerance);
            QVERIFY2(text.isEmpty(), qPrintable(QString("by argument %1: ").arg(i) + text));
        }
    }
};

QTEST_GUILESS_MAIN(TestGradientPytorch)

}  // namespace tst_gradient_pytorch

#include "tst_gradient_pytorch.moc"
