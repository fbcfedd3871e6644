#pragma once

#include "model.hpp"

// The head from the values that NumPy drew.
namespace lesson1::as_numpy {

// np.random.seed(42); np.random.randn(36, 8), bit for bit as NumPy 1.24 gave them over glibc 2.36 on x86-64
// clang-format off
inline constexpr matrix values({
    {0x1.fca2a28a9307cp-2, -0x1.1b2a505de052ap-3, 0x1.4b9dd50245e68p-1, 0x1.85e548e01aa2bp+0, -0x1.df8bcdf57a640p-3, -0x1.df8332670db3bp-3, 0x1.94474a8407408p+0, 0x1.88ed346f0d7f3p-1},
    {-0x1.e0bde4b799e8bp-2, 0x1.15ca6e16a2d7dp-1, -0x1.da8a2aec11b70p-2, -0x1.dce842b16efe7p-2, 0x1.ef89ea59ef970p-3, -0x1.e9ccbbeee35bep+0, -0x1.b994370eee412p+0, -0x1.1fe426aa13c63p-1},
    {-0x1.0348e67a35179p+0, 0x1.41ca0d816861fp-2, -0x1.d0e88818b03f9p-1, -0x1.698cbc41413c7p+0, 0x1.7734c1f9f0d41p+0, -0x1.ce63ce16698d9p-3, 0x1.1498746b135c6p-4, -0x1.6cbc4c10d2762p+0},
    {-0x1.16b9551cafa28p-1, 0x1.c656c3f310635p-4, -0x1.26a783dcef515p+0, 0x1.80b6fb37ddde8p-2, -0x1.3386ea13d3bd2p-1, -0x1.2ab1c42f3d2a0p-2, -0x1.3412e39a9fda7p-1, 0x1.da2ee7318f657p+0},
    {-0x1.ba46ed6b08386p-7, -0x1.0ec624b87cc46p+0, 0x1.a5249b51f2e37p-1, -0x1.3889359e27a1cp+0, 0x1.abc0ad2ef69b5p-3, -0x1.f5acf0f5030c3p+0, -0x1.5404003b05affp+0, 0x1.932bfbcf43a40p-3},
    {0x1.7a184aa489dbep-1, 0x1.5ef6555a42e0cp-3, -0x1.d9b2036b2315fp-4, -0x1.345486f50afe1p-2, -0x1.7a806acb0b806p+0, -0x1.708f6b8a8a627p-1, -0x1.d7b1b0a22aed9p-2, 0x1.0e9f8fed7c262p+0},
    {0x1.5fdd791004188p-2, -0x1.c3569980d154ep+0, 0x1.4bdcab06d5838p-2, -0x1.8a530262a0f40p-2, -0x1.5a95853a8394dp-1, 0x1.392da2709ecf9p-1, 0x1.07ef95af4fcd4p+0, 0x1.dcd0bf6e09c1ep-1},
    {-0x1.adadeb50f1553p-1, -0x1.3ca22b47329cfp-2, 0x1.5336b890f4c8ap-2, 0x1.f37aa6a186800p-1, -0x1.eaaca6c286655p-2, -0x1.7c3ac607d6e13p-3, -0x1.1b38c4d3c6e30p+0, -0x1.323a98e9af5f4p+0},
    {0x1.a0036274ad5b0p-1, 0x1.5b328be83cdfdp+0, -0x1.26f415d2b23fap-4, 0x1.00e78830e806ap+0, 0x1.7250b6d28a442p-2, -0x1.4a4d22f010aafp-1, 0x1.7211b08a4e98fp-2, 0x1.89bcc3b106020p+0},
    {-0x1.257ca64a51952p-5, 0x1.908c7c939d731p+0, -0x1.4f53cebcf5f5fp+1, 0x1.a4d067b1958bfp-1, 0x1.648b7774bae21p-4, -0x1.322efb9e0edc0p-2, 0x1.77da25e468a38p-4, -0x1.fcd150fec1ce2p+0},
    {-0x1.c1e355b0e6cc1p-3, 0x1.6daeeafe889d3p-2, 0x1.7a57439d1e337p+0, -0x1.095ab6cbf3c30p-1, -0x1.9df2df9ee724bp-1, -0x1.00e64c99776a1p-1, 0x1.d4af961c70690p-1, 0x1.50a421820c580p-2},
    {-0x1.0f3cbabbcdaf4p-1, 0x1.06cafd2ea5c03p-1, 0x1.8da1303a02b3ap-4, 0x1.eff23c778bc53p-1, -0x1.677380cc84878p-1, -0x1.4f86aa6f19297p-2, -0x1.9184ccb8ca51ap-2, -0x1.76a8ea676f410p+0},
    {0x1.2f3a2766b3023p-2, 0x1.0b5212c1d8114p-2, 0x1.4f1d910c83a0dp-8, -0x1.e06f380f44e84p-3, -0x1.6a55bca8d2604p+0, -0x1.aebda5c1f8674p-2, -0x1.5ef08de16340bp-2, -0x1.9ac416134317cp-1},
    {-0x1.4a5029c7573c0p-3, 0x1.9dbf81ffc1c33p-2, 0x1.e2dd1447e021bp+0, 0x1.65890d65c2791p-3, 0x1.07bb4a24e7b9dp-2, -0x1.30ee335895560p-4, -0x1.eb349722372edp+0, -0x1.b26740fc74638p-6},
    {0x1.ed67e7bdb18adp-5, 0x1.3b4b847da08b8p+1, -0x1.89f48ba6186e4p-3, 0x1.34c8d39613072p-2, -0x1.1c5bdb7573208p-5, -0x1.2b2e7bdf211cfp+0, 0x1.2490093576f5cp+0, 0x1.80fd5dd057f56p-1},
    {0x1.950223ad483d0p-1, -0x1.d19b3b8378dfcp-1, 0x1.671d87287c434p+0, -0x1.66dfb6148e41ap+0, 0x1.2c7888729874bp-1, 0x1.1860d99618b69p+1, -0x1.fb2793c3df669p-1, -0x1.21f1c6a8e2cb3p-1},
    {0x1.982c07a0d9ce4p-4, -0x1.01c78f9985c6fp-1, -0x1.8cf84753883dap+0, 0x1.18d57d68223d6p-4, -0x1.0ff322dcdf7acp+0, 0x1.e4f56a04d852dp-2, -0x1.d6bec5f25e38fp-1, 0x1.8cc8804c7edc6p+0},
    {-0x1.91069356230dfp-1, -0x1.49ca7e7d9d3c6p-2, 0x1.a0855426abdafp-1, -0x1.3b19ec80e5b11p+0, 0x1.d1d683a233455p-3, 0x1.4ea0e854d8ad3p+0, -0x1.9b8405714f0b8p+0, 0x1.7a2151010b571p-3},
    {0x1.0a1eb7185c3cep-2, 0x1.904b166318c14p-1, -0x1.3ca8cd41fc3d8p+0, -0x1.520971d0fbe06p+0, 0x1.0b3becc57ec73p-1, 0x1.301cc00bcc935p-2, 0x1.008132a0782dcp-2, 0x1.62c351c63066dp-2},
    {-0x1.5c2c33474d601p-1, 0x1.dba7d38d73e9dp-3, 0x1.2c1b30c0b3e2ap-2, -0x1.6dbf78148c87fp-1, 0x1.dda365fb13bdfp+0, 0x1.e534750c564e0p-2, -0x1.30f9441818869p+0, 0x1.5027cb6a4e60cp-1},
    {-0x1.f30979d346253p-1, 0x1.92fcc0d084953p-1, 0x1.2899b84920821p+0, -0x1.a430790b73bdcp-1, 0x1.ed3fa2d1b3eedp-1, 0x1.a6b00b166b577p-2, 0x1.a4e511bd0aae7p-1, 0x1.e5943993c7ef9p+0},
    {-0x1.f68e0b68799ddp-3, -0x1.81e9b4df74af2p-1, -0x1.c76e6f711f994p-1, -0x1.a1b1e2bb5580cp-1, -0x1.3bcf0086636bfp-4, 0x1.5d56f17b36949p-2, 0x1.1b54d538e7f7ap-2, 0x1.a7849014d1472p-1},
    {0x1.aa0bc6336c2c4p-7, 0x1.741acf2d0320ap+0, -0x1.0f02336dae06ap-2, 0x1.5c2e80d50b84cp+1, 0x1.40577879a6ca1p-1, -0x1.b6dd5af0a787ep-1, -0x1.122602c0b447dp+0, 0x1.ee0d3fb2c4362p-2},
    {-0x1.c9a6db56c7e1ap-3, 0x1.6d917906e820fp-1, 0x1.e49867631ed2dp-2, -0x1.2a4ea661083aap-4, -0x1.b18ef23b1fc43p-1, -0x1.83cd0718764fap+0, -0x1.c93b37313621cp-2, 0x1.b679e71be8028p-1},
    {0x1.b676c7ea8a127p-3, -0x1.3ee8bc91ed4dep+0, 0x1.62acae66931a6p-3, 0x1.8a90a3a210255p-2, -0x1.c488f63d9edc1p-1, 0x1.3ad43a74e1a4cp-3, 0x1.dcd887c22a1e8p-5, -0x1.2499b3917b5e3p+0},
    {0x1.6e5fcf4e78e08p-2, 0x1.1f1f2641b5761p-1, 0x1.1542d8a554782p+0, 0x1.0dc5f8a5f295dp+0, -0x1.60aef09013a26p+0, -0x1.e02a9a879c567p-1, 0x1.07b2b3d9e5480p-1, 0x1.070ef3c09fd87p-1},
    {0x1.07b4549121403p-1, 0x1.ed264e3450d05p+1, 0x1.244bc2d20c3b6p-1, 0x1.22b46e0709774p+0, 0x1.e872eb4d0f2bcp-1, 0x1.4d83277284912p-1, -0x1.42d5f0dca8dd9p-2, 0x1.84979d1960de6p-1},
    {-0x1.8bafbf1bed158p-1, -0x1.e501275842d00p-3, -0x1.f103245262d91p-2, 0x1.4f5b41f0d6a25p-4, 0x1.2846bb5ea26d2p+1, -0x1.de0517772404ep+0, 0x1.5f5d7ee469191p-1, -0x1.9cdaf2847fec8p+0},
    {-0x1.e3421b660604ep-2, 0x1.16c57760ef3c5p+0, 0x1.074a7c3cd1fe8p-4, -0x1.13e714eea4229p+0, -0x1.6e3c49abf546dp-1, 0x1.5bf43c7438244p-1, -0x1.75f29d7aa12aap-1, 0x1.bb4ea4198afe9p-3},
    {0x1.755313402c775p-5, -0x1.4d9e8f8e0ef57p-1, 0x1.126cc28a0d695p+1, 0x1.449108ba56181p-1, -0x1.0337df4db733dp+1, 0x1.7ddbc2810fefcp-3, -0x1.52d5acee3b3acp-1, 0x1.b472245df0a3fp-1},
    {-0x1.95c54739f0c0ap-1, -0x1.d5f5e0fc27ef2p-4, 0x1.028db1503bf37p-1, 0x1.bb4443ca9b08dp-1, -0x1.3346a015cf94bp+0, -0x1.56877df1a2426p-2, -0x1.e658104b4ca5ap-2, -0x1.4e812b4ed988ap-1},
    {0x1.c3f4cf209782ap+0, 0x1.9eb3869038c25p-2, -0x1.42c94a73eb90bp+0, 0x1.d5f20049afb0fp-1, 0x1.0fa2d0739624ap+1, 0x1.084fa4b052c37p+0, -0x1.84f56e1a4c102p+0, -0x1.efdb0e8a4718dp-2},
    {0x1.44544a00b1bf1p+0, -0x1.6a53a6f66bc16p-1, 0x1.c67899a4deb14p-2, 0x1.8c9cd5abb19f4p-1, -0x1.da96a17a2ffc9p-1, -0x1.e7a1b8322e95ep-5, -0x1.9ee1d92398441p+1, -0x1.063e44b9f5151p+0},
    {-0x1.02a139b8faacfp-2, -0x1.3f6eb7f709b04p+0, 0x1.a1e5b50c01d0ap+0, -0x1.6e1dbeceff4e9p+0, -0x1.c29b059c98385p-2, 0x1.0bc1b73da1a24p-3, 0x1.70f7494923277p+0, -0x1.6f94a974e1412p+0},
    {0x1.29c5198365f08p+0, 0x1.4f512335637e4p-7, -0x1.f6884d49fbeacp-1, 0x1.d931a735509d7p-2, 0x1.97ac9c1384a60p-3, -0x1.334fa063cefcdp-1, 0x1.1de8ca83988cep-4, -0x1.8a8fa5c4e6cc3p-2},
    {0x1.d0f790562028ap-4, 0x1.5302cab17e1d2p-1, 0x1.960532b44015cp+0, -0x1.3ce179fdf1786p+0, 0x1.11073cd4b66c5p+1, -0x1.f3bc06a9dea7fp+0, -0x1.36db1a9995ac3p-3, 0x1.2d37e9b30cf8cp-1},
});
// clang-format on

inline constexpr auto embed_table = reshape<characters.size, C>(values);
inline constexpr batch X({embedded(embed_table)});
inline constexpr auto WQ = weight_matrix(values, first_weight);
inline constexpr auto WK = weight_matrix(values, first_weight + C * hs);
inline constexpr auto WV = weight_matrix(values, first_weight + 2 * C * hs);

inline constexpr auto Q = X * WQ;
inline constexpr auto K = X * WK;
inline constexpr auto V = X * WV;

inline constexpr auto D = Q * transpose(K);
inline constexpr auto S = D / root(hs);
inline constexpr auto A = softmax(S);
inline constexpr auto O = A * V;

}  // namespace lesson1::as_numpy
