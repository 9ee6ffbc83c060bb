// Expressions of the values of a run. Values are worked by hand.

#include <QTemporaryDir>
#include <QtTest>

#include <cmath>
#include <fstream>

#include "core/session/expressions.h"
#include "tests/support/onnx_file.h"

namespace tst_session_expressions {

using namespace sonde;
using session::Session;
using tensor::Tensor;
using tensor::Value;
namespace onnx = test::onnxfile;

class TestSessionExpressions : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    /// y = x + x, "z/log" = log(y), w = z + y, of x float32[N].
    std::string logs() const {
        const onnx::Graph graph{{{"Add", {"x", "x"}, {"y"}}, {"Log", {"y"}, {"z/log"}}, {"Add", {"z/log", "y"}, {"w"}}},
                                {onnx::valueInfo("x", 1, {-1})},
                                {onnx::valueInfo("w", 1, {-1})},
                                {}};
        const std::string path = m_folder.filePath("logs.onnx").toStdString();
        std::ofstream(path, std::ios::binary) << onnx::model(graph);
        return path;
    }
    static QString told(const base::Result<Value>& result) {
        return result ? QStringLiteral("a value") : QString::fromStdString(result.error().text());
    }

  private slots:
    void valuesAreThoseOfTheLastRun();
    void valuesThatWereNotKeptAreComputedAgain();
    void problemsNameTheColumn();
};

void TestSessionExpressions::valuesAreThoseOfTheLastRun() {
    Session session;
    QVERIFY(session.open(logs()));
    session.runs().giveValues({Tensor::of<float>({3}, {0.5F, 1, 2})});
    session.setWatched(session.document()->graph->findNode("y"), true);
    session.runs().run();
    const auto sum = session::evaluate(session, "sum(y) + x[0]");
    QVERIFY2(sum.has_value(), qPrintable(told(sum)));
    QCOMPARE(sum->tensor().toDouble(0), 7.5);
    const auto first = session::evaluate(session, "w[0] == 1 and `#0`[2] == 2");
    QVERIFY2(first.has_value(), qPrintable(told(first)));
    QVERIFY(first->tensor().toDouble(0) != 0);
}

void TestSessionExpressions::valuesThatWereNotKeptAreComputedAgain() {
    Session session;
    QVERIFY(session.open(logs()));
    session.runs().giveValues({Tensor::of<float>({2}, {0.5F, 2})});
    session.runs().run();
    QVERIFY(!session.values().of(session.document()->graph->findNode("z/log")));
    const auto largest = session::evaluate(session, "max(`z/log`) - max(y)");
    QVERIFY2(largest.has_value(), qPrintable(told(largest)));
    QVERIFY(std::abs(largest->tensor().toDouble(0) - (std::log(4.0) - 4)) < 1e-6);
}

void TestSessionExpressions::problemsNameTheColumn() {
    Session session;
    QCOMPARE(told(session::evaluate(session, "1")), QStringLiteral("no model is open"));
    QVERIFY(session.open(logs()));
    QVERIFY2(told(session::evaluate(session, "1 + y")).startsWith(u"the value of 'y' is not known (column 5 of"),
             qPrintable(told(session::evaluate(session, "1 + y"))));
    const auto missing = session::evaluate(session, "max(yy)");
    QCOMPARE(told(missing), QStringLiteral("there is no node 'yy' (column 5 of 'max(yy)')"));
    QCOMPARE(QString::fromStdString(missing.error().hint), QStringLiteral("did you mean y?"));
    QVERIFY(told(session::evaluate(session, "max(y")).contains(u"')' is missing (column 6"));
    session.runs().giveValues({Tensor::of<float>({2}, {0.5F, 2})});
    session.setEnd(session.document()->graph->findNode("y"), true);
    session.runs().run();
    // The run ended before it.
    QVERIFY(told(session::evaluate(session, "w")).startsWith(u"the value of 'w' is not known"));
    QVERIFY(session::evaluate(session, "y").has_value());
}

QTEST_GUILESS_MAIN(TestSessionExpressions)

}  // namespace tst_session_expressions

#include "tst_session_expressions.moc"
