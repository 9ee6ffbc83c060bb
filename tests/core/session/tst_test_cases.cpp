// The test cases of a dump in a session. Values are worked by hand: of x the small dump computes
// product = x · (1, 2, 3, 4) and sum = product + x, its output ADD.

#include <QTemporaryDir>
#include <QtTest>

#include "core/analysis/infer.h"
#include "core/export/plain_form.h"
#include "core/session/session.h"
#include "tests/support/small_dump.h"

namespace tst_test_cases {

using namespace sonde;
using session::Session;
using tensor::Tensor;

namespace {

/// y = x + 2^-12, d = y - 1, z = 4096 d. In float16 1 + 2^-12 is 1.
std::string writeHalfDump(const std::string& path) {
    test::Maker maker;
    document::Document document;
    const auto x = maker.floats("x", {2});
    const auto y = maker.onnx("y", "Add", x, maker.constant("small", Tensor::of<float>({1}, {1.0F / 4096})));
    const auto d = maker.onnx("d", "Sub", y, maker.constant("one", Tensor::of<float>({1}, {1})));
    const auto z = maker.onnx("z", "Mul", d, maker.constant("large", Tensor::of<float>({1}, {4096})));
    maker.graph.setResult(maker.graph.mainId(), test::arg(z));
    base::Diagnostics findings;
    analysis::inferTypes(maker.graph, findings);
    document.inputs.push_back({"x", x});
    document.outputs.push_back({"z", z});
    document.graph = std::make_shared<graph::InternalGraph>(maker.graph);
    exporting::DumpOptions options;
    if (!options.inference.set("enable_io16xc32", true)) return "no such option";
    const auto dump = exporting::makeDump(document, {"[1,1]"}, options);
    if (!dump) return dump.error().text();
    const auto written = io::dump::writeDump(path, *dump);
    return written ? std::string() : written.error().text();
}

class Events : public session::Observer {
  public:
    void testCasesChanged() override { ++cases; }
    void told(const session::Notice& notice) override { notices.push_back(notice); }
    void failed(const base::Error& error) override { errors.push_back(error); }
    int cases = 0;
    std::vector<session::Notice> notices;
    std::vector<base::Error> errors;
};

}  // namespace

class TestTestCases : public QObject {
    Q_OBJECT

  private slots:
    void casesThatPassAreListed() {
        QCOMPARE(test::writeProductDump(path("good.dump"), {"[1,2,3,4]", "[0,1,0,0]"}), std::string());
        Session session;
        Events events;
        session.setObserver(&events);
        QVERIFY(session.open(path("good.dump")));
        session::TestCases& cases = session.testCases();
        QCOMPARE(cases.count(), std::size_t(2));
        QVERIFY(cases.results().empty() && !cases.shown());
        cases.run(exporting::plainForm);
        QVERIFY(events.cases > 0);
        QCOMPARE(cases.results().size(), std::size_t(2));
        QCOMPARE(cases.results()[1].checks.at(0).name, std::string("ADD"));
        QCOMPARE(cases.results()[1].checks[0].difference, 0.0);
        QCOMPARE(QString::fromStdString(cases.summary()),
                 QString("2 outputs of 2 test cases agree with the expected values"));
        // The first is shown, and compared.
        QVERIFY(cases.shown() == std::size_t(0));
        QVERIFY(tensor::identical(session.inputs().all().at(0).value->tensor(), Tensor::of<float>({4}, {1, 2, 3, 4})));
        QVERIFY(session.comparison().isKnown() && !session.comparison().isStale());
        QCOMPARE(session.comparison().title(), std::string("the unoptimised graph"));
        QCOMPARE(session.comparison().compared(), std::size_t(3));
        QCOMPARE(session.comparison().differing(), std::size_t(0));
    }

    void modelsWithoutCasesSayHowToGetThem() {
        QCOMPARE(test::writeProductDump(path("bare.dump"), {}), std::string());
        Session session;
        Events events;
        session.setObserver(&events);
        session.testCases().run(exporting::plainForm);  // nothing is open
        QVERIFY(events.errors.empty());
        QVERIFY(session.open(path("bare.dump")));
        session.testCases().run(exporting::plainForm);
        QCOMPARE(events.errors.size(), std::size_t(1));
        QCOMPARE(events.errors[0].text(), std::string("the model has no test cases (bare.dump)"));
        QVERIFY(events.errors[0].hint.find("`sonde dump MODEL -o FILE --input-data INPUTS`") != std::string::npos);
        QVERIFY(session.testCases().results().empty() && !session.testCases().isActive());
    }

    /// Half of what is right is expected of the second case alone: 1 is the error, and nothing inside of the graph is
    /// wrong.
    void theFirstCaseThatFailsIsShown() {
        QCOMPARE(writeSecondWrong("second.dump"), std::string());
        Session session;
        Events events;
        session.setObserver(&events);
        QVERIFY(session.open(path("second.dump")));
        session.testCases().run(exporting::plainForm);
        QCOMPARE(session.testCases().results().at(0).checks.at(0).difference, 0.0);
        QCOMPARE(session.testCases().results().at(1).checks.at(0).difference, 1.0);
        QVERIFY(session.testCases().shown() == std::size_t(1));
        QCOMPARE(QString::fromStdString(session.testCases().summary()),
                 QString("1 of 2 outputs of 2 test cases differs from the expected values"));
        const auto add = *session.document()->findNode("ADD");
        QCOMPARE(session.comparison().firstDiverging(), add);
        // And what the model returns.
        QCOMPARE(session.comparison().diverging().size(), std::size_t(2));
        // 4, 12, 24, 40 instead of 2, 6, 12, 20.
        QCOMPARE(session.comparison().of(add)->maxAbsolute, 20.0);
        QVERIFY(std::ranges::any_of(events.notices, [&](const session::Notice& notice) {
            return notice.node == add && notice.where == "first: test case 1, output ADD";
        }));
    }

    void anotherCaseIsShown() {
        QCOMPARE(writeSecondWrong("second.dump"), std::string());
        Session session;
        QVERIFY(session.open(path("second.dump")));
        session.testCases().run(exporting::plainForm);
        session.testCases().show(0, exporting::plainForm);
        QVERIFY(session.testCases().shown() == std::size_t(0));
        QVERIFY(tensor::identical(session.inputs().all().at(0).value->tensor(), Tensor::of<float>({4}, {1, 2, 3, 4})));
        QCOMPARE(session.comparison().differing(), std::size_t(0));
        QVERIFY(!session.comparison().isStale());
        session.testCases().show(7, exporting::plainForm);
        QVERIFY(session.testCases().shown() == std::size_t(0));
    }

    /// The sum is 1 instead of 1 + 2^-12, which float16's tolerance allows; then nothing is left of 2^-12. With a
    /// smaller tolerance the sum, where it comes from, is the first that differs.
    void theFirstNodeInFloat16IsFound() {
        QCOMPARE(writeHalfDump(path("half.dump")), std::string());
        Session session;
        QVERIFY(session.open(path("half.dump")));
        session.testCases().run(exporting::plainForm);
        const session::CheckedOutput& check = session.testCases().results().at(0).checks.at(0);
        QVERIFY(!check.ok());
        QCOMPARE(check.difference, 1.0);
        QCOMPARE(session.comparison().firstDiverging(), session.document()->graph->findNode("d"));
        QVERIFY(session.comparison().of(check.node)->note.starts_with("AssertEqual: err=1"));
        analysis::Tolerances fine;
        fine.float32 = 1e-6;  // and 1e-4 in float16
        session.comparison().setTolerances(fine);
        QCOMPARE(session.comparison().firstDiverging(), session.document()->graph->findNode("y"));
        QCOMPARE(session.comparison().differing(), std::size_t(3));
    }

    /// On other inputs there is no expected value.
    void otherInputsAreComparedWithoutExpectedValues() {
        QCOMPARE(writeSecondWrong("second.dump"), std::string());
        Session session;
        QVERIFY(session.open(path("second.dump")));
        QVERIFY(session.runs().give("arg_0", {"[5,5,5,5]", {}}));
        session.comparison().withUnoptimised(exporting::plainForm);
        QCOMPARE(session.comparison().compared(), std::size_t(3));
        QCOMPARE(session.comparison().differing(), std::size_t(0));
    }

    void casesWithoutExpectedValuesRun() {
        exporting::DumpOptions options;
        options.noAssert = true;
        QCOMPARE(test::writeProductDump(path("bare.dump"), {"[1,2,3,4]"}, options), std::string());
        Session session;
        QVERIFY(session.open(path("bare.dump")));
        session.testCases().run(exporting::plainForm);
        QCOMPARE(session.testCases().results().size(), std::size_t(1));
        QVERIFY(session.testCases().results()[0].checks.empty());
        QCOMPARE(QString::fromStdString(session.testCases().summary()),
                 QString("1 test case ran; the file has no expected values"));
    }

    void otherModelsHaveNone() {
        Session session;
        QVERIFY(session.open(SONDE_TEST_DATA "/models/mlp_functional.onnx"));
        QCOMPARE(session.testCases().count(), std::size_t(0));
        session.testCases().run(exporting::plainForm);
        QVERIFY(session.testCases().results().empty());
    }

    void resultsGoWithTheirDocument() {
        QCOMPARE(test::writeProductDump(path("good.dump"), {"[1,2,3,4]"}), std::string());
        Session session;
        QVERIFY(session.open(path("good.dump")));
        session.testCases().run(exporting::plainForm);
        QVERIFY(!session.testCases().results().empty());
        session.close();
        QVERIFY(session.testCases().results().empty() && !session.testCases().shown());
        QCOMPARE(session.testCases().count(), std::size_t(0));
    }

  private:
    std::string path(const char* name) const { return m_folder.filePath(name).toStdString(); }

    std::string writeSecondWrong(const char* name) const {
        auto dump = exporting::makeDump(test::productDocument(), {"[1,2,3,4]", "[2,4,6,8]"}, {});
        if (!dump) return dump.error().text();
        for (auto& [input, value] : dump->cases.at(1))
            if (input.ends_with(":expect")) value = Tensor::of<float>({4}, {2, 6, 12, 20});
        const auto written = io::dump::writeDump(path(name), *dump);
        return written ? std::string() : written.error().text();
    }

    QTemporaryDir m_folder;
};

QTEST_GUILESS_MAIN(TestTestCases)

}  // namespace tst_test_cases

#include "tst_test_cases.moc"
