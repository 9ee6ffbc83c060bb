#include "core/zoo/lstm_classifier.h"

#include "core/nn/recurrent.h"
#include "core/zoo/parts.h"

namespace sonde::zoo {

namespace {

class LstmClassifier final : public Block {
  public:
    explicit LstmClassifier(const Settings& settings) : Block("LSTMClassifier", {"tokens"}) {
        const std::int64_t dim = settings.whole("dim");
        const std::int64_t hidden = settings.whole("hidden");
        m_embedding = add("embedding", make<nn::Embedding>(settings.whole("vocab"), dim, 0));
        m_lstm = add("lstm", make<nn::LSTM>(dim, hidden, nn::RecurrentOptions{.layers = 2, .batchFirst = true}));
        m_dropout = add("dropout", make<nn::Dropout>(0.2));
        m_fc = add("fc", make<nn::Linear>(2 * hidden, settings.whole("classes")));
    }

    Var forward(std::span<const Var> in) override {
        const std::vector<Var> result = (*m_lstm)((*m_embedding)(in[0])).unpack(2);
        const std::vector<Var> state = result[1].unpack(2);
        const Var pooled = result[0].method("mean", {}, {{"dim", nn::Ints{1}}}, "mean.dim");
        const Var joined = nn::cat({state[0][-1], pooled}, 1);
        return nn::logSoftmax((*m_fc)((*m_dropout)(joined)), -1);
    }

  private:
    std::shared_ptr<nn::Embedding> m_embedding;
    std::shared_ptr<nn::LSTM> m_lstm;
    std::shared_ptr<nn::Dropout> m_dropout;
    std::shared_ptr<nn::Linear> m_fc;
};

}  // namespace

ModulePtr lstmClassifier(const Settings& settings) { return make<LstmClassifier>(settings); }

}  // namespace sonde::zoo
