#include <QFile>
#include <QTemporaryDir>
#include <QTest>

#include "core/session/session.h"
#include "core/session/tokens/token_names.h"

namespace tst_token_names {

using namespace sonde;

class TestTokenNames : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void aTextNamesItsTokenizer() {
        QTemporaryDir folder;
        const std::string vocabulary = folder.filePath("letters.txt").toStdString();
        write(vocabulary, "a\nb\nc\n");
        const session::TokenNames names =
            session::findTokenNames({.item = "'cab'#" + vocabulary, .vocabulary = {}, .ids = {2, 0, 1, 9}});
        QVERIFY(names.tokenizer);
        QCOMPARE(names.of(1), std::string("b"));
        QCOMPARE(names.at(0), std::string("c"));
        // An id without a token, and what is beyond the text, have no name.
        QCOMPARE(names.at(3), std::string());
        QCOMPARE(names.at(4), std::string());
        QCOMPARE(names.at(-1), std::string());
    }

    void aVocabularyNamesTheIdsOfOthers() {
        QTemporaryDir folder;
        const std::string vocabulary = folder.filePath("letters.txt").toStdString();
        write(vocabulary, "a\nb\nc\n");
        QCOMPARE(session::findTokenNames({.item = "[2,0]", .vocabulary = vocabulary, .ids = {2, 0}}).at(0),
                 std::string("c"));
        // A tokenizer that is not there is no error: there are ids alone.
        const session::TokenNames none =
            session::findTokenNames({.item = "'a'#/nowhere/vocab.txt", .vocabulary = {}, .ids = {7}});
        QVERIFY(!none.tokenizer);
        QCOMPARE(none.ids, std::vector<std::int64_t>{7});
        QCOMPARE(none.at(0), std::string());
    }

    void aSessionTellsItsIdsAndTheVocabularyBesideTheModel() {
        session::Session session;
        const std::string folder = std::string(SONDE_SOURCE_DIR) + "/resources/samples/words/";
        QVERIFY(session.open(folder + "words.onnx"));
        session::InputSpec spec;
        spec.source = "[[9,14,20]]";
        QVERIFY(session.inputs().set("tokens", spec));
        session.inputs().read({});
        const session::TokenNamesRequest request = session::tokenNamesRequest(session);
        QCOMPARE(request.ids, (std::vector<std::int64_t>{9, 14, 20}));
        QCOMPARE(request.vocabulary, folder + "vocab.txt");
        // README.md of the sample: "." ends a word, then a to z.
        QCOMPARE(session::findTokenNames(request).at(0), std::string("i"));
        QCOMPARE(session::tokenNamesRequest(session, "other.txt").vocabulary, std::string("other.txt"));
    }

    void withoutAModelThereIsNothing() {
        session::Session session;
        const session::TokenNamesRequest request = session::tokenNamesRequest(session);
        QVERIFY(request.ids.empty());
        QVERIFY(request.vocabulary.empty());
    }

  private:
    static void write(const std::string& path, const char* text) {
        QFile file(QString::fromStdString(path));
        QVERIFY(file.open(QIODevice::WriteOnly));
        file.write(text);
    }
};

QTEST_APPLESS_MAIN(TestTokenNames)

}  // namespace tst_token_names

#include "tst_token_names.moc"
