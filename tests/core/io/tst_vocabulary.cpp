// Lists of tokens and names. What a file holds is written here byte by byte.

#include <QFile>
#include <QTemporaryDir>
#include <QtTest>

#include "core/io/inputs/name_lines.h"
#include "core/io/inputs/vocabulary.h"

namespace tst_vocabulary {

using namespace sonde;
using io::NameLines;
using io::Vocabulary;

class TestVocabulary : public QObject {
    Q_OBJECT
  private Q_SLOTS:
    void tokensAreLines();
    void joinsAsTokensAreSpelled_data();
    void joinsAsTokensAreSpelled();
    void refuses_data();
    void refuses();
    void readsAFile();
};

void TestVocabulary::tokensAreLines() {
    // A blank and an empty line are tokens; a CR before the line end is none of them, nor is the byte order mark.
    const auto vocabulary = Vocabulary::parse(
        "\xef\xbb\xbf"
        "a\r\n \n\nb\na\n");
    QVERIFY(vocabulary);
    QCOMPARE(vocabulary->size(), std::size_t{5});
    QCOMPARE(*vocabulary->token(0), std::string("a"));
    QCOMPARE(*vocabulary->token(1), std::string(" "));
    QCOMPARE(*vocabulary->token(2), std::string());
    QVERIFY(!vocabulary->token(5) && !vocabulary->token(-1));
    QCOMPARE(vocabulary->id("b").value_or(-1), std::int64_t{3});
    QCOMPARE(vocabulary->id("a").value_or(-1), std::int64_t{0});  // the first of two
    QVERIFY(!vocabulary->id("c"));
}

void TestVocabulary::joinsAsTokensAreSpelled_data() {
    QTest::addColumn<QByteArray>("tokens");
    QTest::addColumn<QByteArray>("ids");
    QTest::addColumn<QByteArray>("text");
    QTest::newRow("words") << QByteArray("the\ncat\nsat") << QByteArray("0 1 2") << QByteArray("the cat sat");
    QTest::newRow("characters") << QByteArray("<pad>\nc\na\nt\n ") << QByteArray("1 2 3 4 2 0")
                                << QByteArray("cat a<pad>");
    QTest::newRow("WordPiece") << QByteArray("[CLS]\nun\n##aff\n##able\n!\n[SEP]") << QByteArray("0 1 2 3 4 5")
                               << QByteArray("[CLS] unaffable ! [SEP]");
    QTest::newRow("SentencePiece") << QByteArray(
                                          "<s>\n\xe2\x96\x81the\n\xe2\x96\x81"
                                          "ca\nt\n</s>")
                                   << QByteArray("0 1 2 3 4") << QByteArray("<s> the cat </s>");
    // 0xC3 0xA9 is e with an acute accent: GPT-2 writes its bytes as U+00C3 and U+00A9, a line end as U+010A.
    QTest::newRow("bytes") << QByteArray(
                                  "caf\n\xc3\x83\n\xc2\xa9\n\xc4\xa0"
                                  "au\n\xc4\x8a\n<|endoftext|>")
                           << QByteArray("0 1 2 3 4 5") << QByteArray("caf\xc3\xa9 au\n <|endoftext|>");
    QTest::newRow("unknown id") << QByteArray("the\ncat") << QByteArray("0 7 1")
                                << QByteArray(
                                       "the \xe2\x80\xb9"
                                       "7\xe2\x80\xba cat");
    QTest::newRow("none") << QByteArray("the\ncat") << QByteArray() << QByteArray();
}

void TestVocabulary::joinsAsTokensAreSpelled() {
    QFETCH(const QByteArray, tokens);
    QFETCH(const QByteArray, ids);
    QFETCH(const QByteArray, text);
    const auto vocabulary = Vocabulary::parse(tokens.toStdString());
    QVERIFY(vocabulary);
    std::vector<std::int64_t> numbers;
    for (const QByteArray& id : ids.split(' '))
        if (!id.isEmpty()) numbers.push_back(id.toLongLong());
    QCOMPARE(vocabulary->text(numbers), text.toStdString());
}

void TestVocabulary::refuses_data() {
    QTest::addColumn<QByteArray>("bytes");
    QTest::addColumn<QByteArray>("what");
    QTest::addColumn<QByteArray>("where");
    QTest::newRow("nothing") << QByteArray() << QByteArray("the labels file is empty") << QByteArray("l.txt");
    QTest::newRow("mark only") << QByteArray("\xef\xbb\xbf") << QByteArray("the labels file is empty")
                               << QByteArray("l.txt");
    QTest::newRow("Latin-1") << QByteArray("cat\ncaf\xe9\n") << QByteArray("the labels file is not UTF-8: byte 0xe9")
                             << QByteArray("l.txt, line 2");
    QTest::newRow("UTF-16") << QByteArray(
                                   "\xff\xfe"
                                   "c\0a\0",
                                   6)
                            << QByteArray("the labels file is UTF-16, not UTF-8") << QByteArray("l.txt");
    QTest::newRow("zero") << QByteArray("a\nb\0c", 5) << QByteArray("the labels file has a zero byte")
                          << QByteArray("l.txt, line 2");
    QTest::newRow("JSON") << QByteArray("{\"cat\": 0,\n \"dog\": 1}\n")
                          << QByteArray("the labels file is JSON or a dictionary, not a list of lines")
                          << QByteArray("l.txt");
    QTest::newRow("Python") << QByteArray("{0: 'tench',\n 1: 'goldfish'}")
                            << QByteArray("the labels file is JSON or a dictionary, not a list of lines")
                            << QByteArray("l.txt");
    QTest::newRow("long line") << QByteArray("a\nb\n") + QByteArray(4'097, 'x')
                               << QByteArray("a line of the labels file is longer than 4,096 bytes")
                               << QByteArray("l.txt, line 3");
    QTest::newRow("many lines") << QByteArray(1'000'001, '\n')
                                << QByteArray("the labels file has more than 1,000,000 lines") << QByteArray("l.txt");
    QTest::newRow("large") << QByteArray((64 << 20) + 1, 'x') << QByteArray("the labels file is larger than 64 MiB")
                           << QByteArray("l.txt");
}

void TestVocabulary::refuses() {
    QFETCH(const QByteArray, bytes);
    QFETCH(const QByteArray, what);
    QFETCH(const QByteArray, where);
    const auto read =
        NameLines::parse({bytes.constData(), static_cast<std::size_t>(bytes.size())}, "labels file", "l.txt");
    QVERIFY(!read);
    QCOMPARE(read.error().what, what.toStdString());
    QCOMPARE(read.error().where, where.toStdString());
    QVERIFY(read.error().kind == base::ErrorKind::Unreadable);
}

void TestVocabulary::readsAFile() {
    const QTemporaryDir folder;
    const QString path = folder.filePath(QStringLiteral("vocab.txt"));
    QVERIFY(!Vocabulary::read(path.toStdString()));
    QFile file(path);
    QVERIFY(file.open(QIODevice::WriteOnly));
    file.write("{\n}\na:b\n");  // of a vocabulary of signs, and no JSON
    file.close();
    const auto vocabulary = Vocabulary::read(path.toStdString());
    QVERIFY(vocabulary);
    QCOMPARE(vocabulary->size(), std::size_t{3});
}

QTEST_GUILESS_MAIN(TestVocabulary)

}  // namespace tst_vocabulary

#include "tst_vocabulary.moc"
